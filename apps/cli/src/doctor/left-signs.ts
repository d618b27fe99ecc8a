import { type DaemonSet, daemonSetAnnotations, type KubeObject, type ObjectKey } from '@tranche/kube-types'

/** @returns a DaemonSet on `OnDelete` that bears the name of a Rollout or what a frozen release has left; null of every other */
export function toHeldDaemonSet(object: KubeObject): ObjectKey | null {
  const { metadata, spec } = object as DaemonSet
  const ours = [daemonSetAnnotations.rollout, daemonSetAnnotations.frozen]
  if (spec.updateStrategy?.type !== 'OnDelete' || !ours.some((key) => metadata.annotations?.[key] !== undefined)) return null
  return { namespace: metadata.namespace ?? '', name: metadata.name }
}
