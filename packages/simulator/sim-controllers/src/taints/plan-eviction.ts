import type { Node, Pod, Taint, Toleration } from '@tranche/kube-types'
import { isTolerated } from '../placement/tolerations.ts'

/**
 * How long a pod may stay on its node, counted from when its taints came to be known.
 *
 * @returns milliseconds; 0 when a NoExecute taint is not tolerated; null for ever
 * @see k8s.io/component-helpers GetMatchingTolerations
 */
export function stayMs(pod: Pod, node: Node): number | null {
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute')
  if (taints.length === 0) return null
  const used = taints.map((taint) => matching(taint, pod.spec?.tolerations ?? []))
  if (used.includes(undefined)) return 0
  const seconds = used.flatMap((toleration) => toleration?.tolerationSeconds ?? [])
  return seconds.length === 0 ? null : Math.max(0, Math.min(...seconds)) * 1000
}

/** The first that tolerates the taint counts. */
function matching(taint: Taint, tolerations: readonly Toleration[]): Toleration | undefined {
  return tolerations.find((toleration) => isTolerated(taint, [toleration]))
}
