/** Time within which downtime counts, in milliseconds: a day. */
export const DOWNTIME_WINDOW_MS = 86_400_000

/** Maximum number of past downtimes kept for a node; the oldest are merged. */
export const DOWNTIMES_KEPT = 24

/** A time without an agent on a node. */
export interface Downtime {
  /** Epoch milliseconds. */
  readonly fromMs: number
  /** Epoch milliseconds, not before `fromMs`. */
  readonly toMs: number
}

/** Milliseconds without an agent in the window that ends now. What overlaps counts once; what lies in the future does not count. */
export function downtimeMs(downtimes: readonly Downtime[], nowMs: number): number {
  return inWindow(downtimes, nowMs).reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)
}

/**
 * First time from which the window holds less than `allowedMs`, if no downtime is added: now, if it does already. Epoch milliseconds.
 *
 * @param allowedMs more than 0
 */
export function belowLimitAtMs(downtimes: readonly Downtime[], allowedMs: number, nowMs: number): number {
  let countedMs = 0
  for (const { fromMs, toMs } of inWindow(downtimes, nowMs).toReversed()) {
    countedMs += toMs - fromMs
    // From this moment of the downtime on, exactly what is allowed counts.
    if (countedMs >= allowedMs) return fromMs + (countedMs - allowedMs) + DOWNTIME_WINDOW_MS + 1
  }
  return nowMs
}

/**
 * The downtimes to keep: without those that left the window, and at most {@link DOWNTIMES_KEPT}, the oldest first. Beyond that, the oldest are moved
 * together. So each counts for as long as before, or longer.
 */
export function keptDowntimes(downtimes: readonly Downtime[], nowMs: number): readonly Downtime[] {
  const kept = [...joined(downtimes.filter(({ toMs }) => toMs > nowMs - DOWNTIME_WINDOW_MS))]
  while (kept.length > DOWNTIMES_KEPT) {
    const [first, second] = kept.splice(0, 2) as [Downtime, Downtime]
    kept.unshift({ fromMs: second.fromMs - (first.toMs - first.fromMs), toMs: second.toMs })
  }
  return kept
}

function inWindow(downtimes: readonly Downtime[], nowMs: number): readonly Downtime[] {
  const sinceMs = nowMs - DOWNTIME_WINDOW_MS
  const cut = downtimes.map(({ fromMs, toMs }) => ({ fromMs: Math.max(fromMs, sinceMs), toMs: Math.min(toMs, nowMs) }))
  return joined(cut.filter(({ fromMs, toMs }) => fromMs < toMs))
}

/** Joins what overlaps; in order of time. */
function joined(downtimes: readonly Downtime[]): readonly Downtime[] {
  const apart: Downtime[] = []
  for (const next of downtimes.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = apart.at(-1)
    if (last === undefined || next.fromMs > last.toMs) apart.push(next)
    else apart[apart.length - 1] = { fromMs: last.fromMs, toMs: Math.max(last.toMs, next.toMs) }
  }
  return apart
}

/** Downtime of a node that may have no more for now. */
export interface SpentDowntime {
  readonly spentMs: number
  /** When it is below the limit again, in epoch milliseconds. */
  readonly untilMs: number
}

/** @returns null for a node that may have more downtime now */
export function spentDowntime(downtimes: readonly Downtime[], allowedMs: number, nowMs: number): SpentDowntime | null {
  const spentMs = downtimeMs(downtimes, nowMs)
  return spentMs < allowedMs ? null : { spentMs, untilMs: belowLimitAtMs(downtimes, allowedMs, nowMs) }
}
