/** What a release may delete: the part of a record that the controller decides. */
export interface Allowance {
  /** UID of the DaemonSet. */
  readonly workloadUid: string
  /** `metadata.generation` of the DaemonSet. */
  readonly generation: number
  /** `controller-revision-hash` being released. */
  readonly revision: string
  /** Nodes to keep on the old revision (≥ 0). */
  readonly partition: number
  /** Effective maxUnavailable (≥ 1, ≤ 1000). */
  readonly limit: number
}

/**
 * How a change of what is allowed must be written.
 *
 * - `same`: nothing to write.
 * - `widens`: every deletion allowed before stays allowed (or nothing but the generation differs): one write (F9, F10).
 * - `lowersLimit`: only the limit falls: the permits beyond it are withdrawn, then one write (F10).
 * - `narrows`: some deletion allowed before is not allowed any more: void first (F8).
 */
export type Direction = 'same' | 'widens' | 'lowersLimit' | 'narrows'

/** The one place that decides whether a change narrows or widens. */
export function directionOf(from: Allowance, to: Allowance): Direction {
  if (from.workloadUid !== to.workloadUid || from.revision !== to.revision || to.partition > from.partition) return 'narrows'
  if (to.limit < from.limit) return 'lowersLimit'
  const equal = to.partition === from.partition && to.limit === from.limit && to.generation === from.generation
  return equal ? 'same' : 'widens'
}
