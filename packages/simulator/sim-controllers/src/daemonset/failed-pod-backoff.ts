/** Spaces the deletions of failed pods: 1 s, doubling to 15 minutes, forgotten after 30 idle minutes. */
export interface FailedPodBackoff {
  /**
   * Requests to delete the failed pods at one place.
   *
   * @param place DaemonSet uid, observed generation, node; a new generation starts over
   * @returns 0 when they may be deleted now, which starts the next delay; else milliseconds until the next attempt
   */
  tryNow(place: string): number
}

const FIRST_MS = 1000
const MAX_MS = 15 * 60_000
const IDLE_MS = 2 * MAX_MS
const SWEEP_MS = 60_000

/** @param monotonicMs the clock's monotonic time */
export function createFailedPodBackoff(monotonicMs: () => number): FailedPodBackoff {
  const entries = new Map<string, { readonly delayMs: number; readonly sinceMs: number }>()
  let sweptMs = monotonicMs()

  function sweep(nowMs: number): void {
    if (nowMs - sweptMs < SWEEP_MS) return
    sweptMs = nowMs
    for (const [place, entry] of entries) if (nowMs - entry.sinceMs > IDLE_MS) entries.delete(place)
  }

  return {
    tryNow(place) {
      const nowMs = monotonicMs()
      sweep(nowMs)
      const entry = entries.get(place)
      const fresh = entry === undefined || nowMs - entry.sinceMs > IDLE_MS
      if (!fresh && nowMs - entry.sinceMs < entry.delayMs) return entry.delayMs
      entries.set(place, { delayMs: fresh ? FIRST_MS : Math.min(entry.delayMs * 2, MAX_MS), sinceMs: nowMs })
      return 0
    },
  }
}
