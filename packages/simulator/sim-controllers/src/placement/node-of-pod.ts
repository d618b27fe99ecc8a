import type { Pod, PodPlacement } from '@tranche/kube-types'

/** @returns node that a pod runs on or is pinned to; undefined for a pod that may run anywhere */
export function nodeOfPod(pod: Pod): string | undefined {
  return pod.spec?.nodeName || pinnedNode(pod.spec)
}

/** @returns the single node that required affinity names in `matchFields` */
export function pinnedNode(placement: PodPlacement | undefined): string | undefined {
  const terms = placement?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  for (const term of terms) {
    const field = term.matchFields?.find((one) => one.key === 'metadata.name' && one.operator === 'In' && one.values?.length === 1)
    if (field !== undefined) return field.values?.[0]
  }
  return undefined
}
