import { rolloutOf } from '@tranche/kube-types'
import type { EventRecorder } from '@tranche/reconcile'
import type { CheckTarget } from './check.ts'

/** Records on the DaemonSet, and on the Rollout of its release, that a node is updated which is not drained. */
export function recordLateDrain({ daemonSet, release }: CheckTarget, message: string, events: Pick<EventRecorder, 'record'>): void {
  const { namespace = '', name, uid } = daemonSet.metadata
  events.record({ apiVersion: 'apps/v1', kind: 'DaemonSet', name, namespace, uid }, 'Warning', 'DrainTimedOut', message)
  const rollout = rolloutOf(release)
  if (rollout === undefined) return
  const { apiVersion, kind } = rollout
  events.record({ apiVersion, kind, name: rollout.name, namespace, uid: rollout.uid }, 'Warning', 'DrainTimedOut', message)
}
