/** What a release may delete: the part of the record that the controller writes. */
export interface Allowance {
  /** UID of the DaemonSet. */
  readonly workloadUid: string
  /** `metadata.generation` of the DaemonSet. */
  readonly generation: number
  /** `controller-revision-hash` being released. */
  readonly revision: string
  /**
   * Nodes that the batch may have on the revision (≥ 0), as the controller counted them. An executor uses the smaller of this
   * and what the partition leaves in its own view (G3). See L16.
   */
  readonly size: number
  /** Nodes of `size` that no step so far selects, and that have no old pod any more (≥ 1); undefined: none. */
  readonly outside?: number | undefined
  /** Nodes to keep on the old revision (≥ 0). */
  readonly partition: number
  /** Effective maxUnavailable (≥ 1, ≤ 1000). */
  readonly limit: number
  /** Scope of the node rules, see {@link nodeScopeText}; undefined where every node may be taken, in any order. */
  readonly scope?: string | undefined
}

/** What a record allows. A record without a size, written by an earlier version, lets no pod be permitted. */
export interface RecordedAllowance extends Omit<Allowance, 'size'> {
  readonly size?: number | undefined
}

/** The node rules of a release, and how many of its steps apply. */
export interface ScopeReading {
  /** Digest of the rules, see `NodeScope.digest`. */
  readonly digest: string
  /** Number of leading steps whose nodes may be taken; null where every node that is not excluded may be. */
  readonly steps: number | null
}

/** @returns the `scope` text of a record */
export function nodeScopeText({ digest, steps }: ScopeReading): string {
  return steps === null ? digest : `${digest}.${steps}`
}

/** @returns the reading that {@link nodeScopeText} encoded; undefined for a release without rules */
export function parseNodeScope(scope: string | undefined): ScopeReading | undefined {
  if (scope === undefined) return undefined
  const dot = scope.indexOf('.')
  return dot === -1 ? { digest: scope, steps: null } : { digest: scope.slice(0, dot), steps: Number(scope.slice(dot + 1)) }
}

/**
 * How a change of the allowance must be written.
 *
 * - `same`: nothing to write.
 * - `widens`: every deletion allowed before stays allowed (or only the generation differs): one write (F9, F10).
 * - `lowersLimit`: the limit falls and nothing narrows: every unused permit is withdrawn, then one write (F10, L9).
 * - `narrows`: some deletion allowed before is no longer allowed: revoke first (F8).
 */
export type Direction = 'same' | 'widens' | 'lowersLimit' | 'narrows'

/** Decides whether a change narrows or widens; nothing else does. See L23. */
export function directionOf(from: RecordedAllowance, to: Allowance): Direction {
  if (from.workloadUid !== to.workloadUid || from.revision !== to.revision || to.partition > from.partition) return 'narrows'
  if (from.size !== undefined && (to.size < from.size || sizeInSteps(to, to.size) < sizeInSteps(from, from.size))) return 'narrows'
  if (!containsScope(to.scope, from.scope)) return 'narrows'
  if (to.limit < from.limit) return 'lowersLimit'
  const isSameCount = to.size === from.size && to.outside === from.outside && to.partition === from.partition
  const isEqual = isSameCount && to.limit === from.limit && to.generation === from.generation && to.scope === from.scope
  return isEqual ? 'same' : 'widens'
}

/** Nodes that the steps so far select and that may have the revision. */
function sizeInSteps({ outside = 0 }: RecordedAllowance, size: number): number {
  return size - outside
}

/**
 * Whether scope `to` allows everything that scope `from` allows: the same rules and as many steps. Other rules count as less
 * (L23).
 */
function containsScope(to: string | undefined, from: string | undefined): boolean {
  if (to === from) return true
  const wider = parseNodeScope(to)
  const narrower = parseNodeScope(from)
  if (wider?.digest !== narrower?.digest) return false
  return (wider?.steps ?? Number.POSITIVE_INFINITY) >= (narrower?.steps ?? Number.POSITIVE_INFINITY)
}
