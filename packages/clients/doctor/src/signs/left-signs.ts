import { type DaemonSet, daemonSetAnnotations, type KubeObject, type ObjectKey, valueIn } from '@tranche/kube-types'

/** @returns the key of a DaemonSet on `OnDelete` with the annotations of a Rollout or of a frozen release; null for others */
export function toHeldDaemonSet(object: KubeObject): ObjectKey | null {
  const { metadata, spec } = object as DaemonSet
  const ours = [daemonSetAnnotations.rollout, daemonSetAnnotations.frozen]
  if (spec.updateStrategy?.type !== 'OnDelete' || !ours.some((key) => valueIn(metadata.annotations, key) !== undefined)) return null
  return { namespace: metadata.namespace ?? '', name: metadata.name }
}
