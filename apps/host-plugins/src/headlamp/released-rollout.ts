import { daemonSetAnnotations, type ObjectKey } from '@tranche/kube-types'
import type { HeadlampObject } from './headlamp-lib.ts'

/** @returns the Rollout that an object is, or is released by; null: none */
export function releasedRollout(resource: HeadlampObject | null): ObjectKey | null {
  if (resource === null) return null
  const { apiVersion = '', metadata } = resource.jsonData
  const { namespace = '', name, annotations = {} } = metadata
  if (resource.kind === 'Rollout' && apiVersion.startsWith('rollouts.kruise.io/')) return { namespace, name }
  const rollout = resource.kind === 'DaemonSet' ? annotations[daemonSetAnnotations.rollout] : undefined
  return rollout === undefined ? null : { namespace, name: rollout }
}
