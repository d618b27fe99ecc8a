/** What a release may delete: the part of a record that the controller decides. */
export interface Allowance {
  /** UID of the DaemonSet. */
  readonly workloadUid: string
  /** `metadata.generation` of the DaemonSet. */
  readonly generation: number
  /** `controller-revision-hash` being released. */
  readonly revision: string
  /**
   * Nodes that the batch may have on the revision (≥ 0), as the controller counted them. An executor takes the smaller of this
   * and what the partition leaves of the nodes in its own view: nodes that become desired again widen nothing (G3).
   */
  readonly size: number
  /** Nodes to keep on the old revision (≥ 0). */
  readonly partition: number
  /** Effective maxUnavailable (≥ 1, ≤ 1000). */
  readonly limit: number
  /** By which rules nodes may be taken, see {@link nodeScopeText}; undefined where every node may, in any order. */
  readonly scope?: string | undefined
}

/** What a record allows. Without a size, written by a version before there was one, it lets no pod be permitted. */
export interface RecordedAllowance extends Omit<Allowance, 'size'> {
  readonly size?: number | undefined
}

/** The rules by which nodes may be taken, and how far a release has got with them. */
export interface ScopeReading {
  /** Digest of the rules. */
  readonly digest: string
  /** So many of the first steps say which nodes may be taken; null where every node may that the rules do not exclude. */
  readonly steps: number | null
}

/** @returns the text that a record keeps as `scope` */
export function nodeScopeText({ digest, steps }: ScopeReading): string {
  return steps === null ? digest : `${digest}.${steps}`
}

/** @returns what {@link nodeScopeText} was made from; undefined for the scope of a release without rules */
export function parseNodeScope(scope: string | undefined): ScopeReading | undefined {
  if (scope === undefined) return undefined
  const dot = scope.indexOf('.')
  return dot === -1 ? { digest: scope, steps: null } : { digest: scope.slice(0, dot), steps: Number(scope.slice(dot + 1)) }
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
export function directionOf(from: RecordedAllowance, to: Allowance): Direction {
  if (from.workloadUid !== to.workloadUid || from.revision !== to.revision || to.partition > from.partition) return 'narrows'
  if (from.size !== undefined && to.size < from.size) return 'narrows'
  if (!containsScope(to.scope, from.scope)) return 'narrows'
  if (to.limit < from.limit) return 'lowersLimit'
  const isSameCount = to.size === from.size && to.partition === from.partition
  const isEqual = isSameCount && to.limit === from.limit && to.generation === from.generation && to.scope === from.scope
  return isEqual ? 'same' : 'widens'
}

/**
 * Whether nothing that was allowed in scope `from` is refused in scope `to`. Each step adds nodes to those of the steps
 * before it; what other rules allow cannot be told from their digest, so they count as less.
 */
function containsScope(to: string | undefined, from: string | undefined): boolean {
  if (to === from) return true
  const wider = parseNodeScope(to)
  const narrower = parseNodeScope(from)
  if (wider?.digest !== narrower?.digest) return false
  return (wider?.steps ?? Number.POSITIVE_INFINITY) >= (narrower?.steps ?? Number.POSITIVE_INFINITY)
}
