import type { Taint, Toleration } from '@tranche/kube-types'

const NODE = 'node.kubernetes.io'

/** Tolerations added to every pod of a DaemonSet, in this order. */
const automatic: readonly Toleration[] = [
  { key: `${NODE}/not-ready`, operator: 'Exists', effect: 'NoExecute' },
  { key: `${NODE}/unreachable`, operator: 'Exists', effect: 'NoExecute' },
  { key: `${NODE}/disk-pressure`, operator: 'Exists', effect: 'NoSchedule' },
  { key: `${NODE}/memory-pressure`, operator: 'Exists', effect: 'NoSchedule' },
  { key: `${NODE}/pid-pressure`, operator: 'Exists', effect: 'NoSchedule' },
  { key: `${NODE}/unschedulable`, operator: 'Exists', effect: 'NoSchedule' },
]
const forHostNetwork: Toleration = { key: `${NODE}/network-unavailable`, operator: 'Exists', effect: 'NoSchedule' }

/**
 * @returns the template's tolerations, followed by the missing ones that every DaemonSet pod gets; a time limit on one of those is removed
 */
export function withAutomaticTolerations(tolerations: readonly Toleration[], hostNetwork: boolean): readonly Toleration[] {
  const wanted = hostNetwork ? [...automatic, forHostNetwork] : automatic
  const lasting = tolerations.map((toleration) => wanted.find((other) => isSame(other, toleration)) ?? toleration)
  return [...lasting, ...wanted.filter((toleration) => !lasting.includes(toleration))]
}

/** @returns whether one of `tolerations` tolerates the taint */
export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some((toleration) => tolerates(toleration, taint))
}

function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false
  if (toleration.key && toleration.key !== taint.key) return false
  if (toleration.operator === 'Exists') return true
  if (toleration.operator !== undefined && toleration.operator !== '' && toleration.operator !== 'Equal') return false
  return (toleration.value ?? '') === (taint.value ?? '')
}

function isSame(a: Toleration, b: Toleration): boolean {
  return a.key === b.key && a.effect === b.effect && a.operator === b.operator && (a.value ?? '') === (b.value ?? '')
}
