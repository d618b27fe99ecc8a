import type { Node, Taint } from '@tranche/kube-types'

const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable'
const NOT_READY = 'node.kubernetes.io/not-ready'
const UNREACHABLE = 'node.kubernetes.io/unreachable'

/** Taints of the node controller that follow from a node's conditions and cordon. */
const rules: readonly { readonly taint: Taint; readonly when: (node: Node) => boolean }[] = [
  { taint: { key: UNSCHEDULABLE, effect: 'NoSchedule' }, when: (node) => node.spec?.unschedulable === true },
  { taint: { key: NOT_READY, effect: 'NoSchedule' }, when: (node) => readyStatus(node) === 'False' },
  { taint: { key: NOT_READY, effect: 'NoExecute' }, when: (node) => readyStatus(node) === 'False' },
  { taint: { key: UNREACHABLE, effect: 'NoSchedule' }, when: (node) => readyStatus(node) === 'Unknown' },
  { taint: { key: UNREACHABLE, effect: 'NoExecute' }, when: (node) => readyStatus(node) === 'Unknown' },
]

/**
 * @returns desired `spec.taints`: foreign taints first, in order; undefined without a change. A node without Ready condition keeps its
 *   taints
 */
export function planTaints(node: Node): readonly Taint[] | undefined {
  if (readyStatus(node) === undefined) return undefined
  const taints = node.spec?.taints ?? []
  const wanted = rules.filter(({ when }) => when(node)).map(({ taint }) => taint)
  const extra = taints.filter((taint) => rules.some((rule) => isSame(rule.taint, taint)) && !wanted.some((one) => isSame(one, taint)))
  const missing = wanted.filter((taint) => !taints.some((one) => isSame(one, taint)))
  if (extra.length === 0 && missing.length === 0) return undefined
  return [...taints.filter((taint) => !extra.includes(taint)), ...missing]
}

/** @returns status of the Ready condition */
export function readyStatus(node: Node): string | undefined {
  return node.status?.conditions?.find(({ type }) => type === 'Ready')?.status
}

function isSame(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect
}
