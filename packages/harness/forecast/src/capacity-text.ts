import { growthOf, specOf } from '@tranche/fit'
import type { DaemonSet } from '@tranche/kube-types'

/**
 * Describes what a forecast ignores about capacity. A snapshot has no pods but those of the DaemonSet, so only these and the node's total
 * capacity limit a new pod.
 *
 * @returns one sentence, without full stop
 */
export function capacityText(before: DaemonSet, planned: DaemonSet): string {
  const growth = growthOf(specOf(before.spec.template), specOf(planned.spec.template))
  if (growth.length === 0) return 'other pods on the nodes are ignored: each new pod is assumed to fit where the old one ran'
  return `not known: whether the nodes have room for what new pods request in addition to old ones: ${growth.join(', ')}`
}
