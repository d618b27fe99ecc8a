import type { Node, Pod, Taint, Toleration } from '@tranche/kube-types'
import { isTolerated } from '../placement/tolerations.ts'

/**
 * Time that a pod may stay on its node, counted from the first observation of the taints.
 *
 * @returns milliseconds; 0 when a NoExecute taint is not tolerated; null without limit
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

/** The first toleration that matches the taint counts. */
function matching(taint: Taint, tolerations: readonly Toleration[]): Toleration | undefined {
  return tolerations.find((toleration) => isTolerated(taint, [toleration]))
}
