import type { IntOrString } from './objects.ts'

/**
 * Converts a size to a whole number of nodes. Percentages are rounded UP, as Kubernetes does for DaemonSets: `"1%"` of 10 is 1, not 0.
 *
 * @param size a whole number ≥ 0 or a percentage from 0% to 100%
 * @param total number of nodes that equals 100% (≥ 0)
 * @returns the number, not clamped to `total`; null if `size` is neither
 * @see k8s.io/apimachinery/pkg/util/intstr GetScaledValueFromIntOrPercent(roundUp = true)
 */
export function scaleIntOrPercent(size: IntOrString, total: number): number | null {
  if (typeof size === 'number') return Number.isInteger(size) && size >= 0 ? size : null
  if (!/^\d+%$/.test(size)) return null
  const percent = Number(size.slice(0, -1))
  return percent <= 100 ? Math.ceil((percent * total) / 100) : null
}
