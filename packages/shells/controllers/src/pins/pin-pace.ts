/** Number of changes that config may make to a template in a row. */
export const BURST = 3

/** Interval (ms) of further changes: a release that begins again ten times a second updates no node. */
export const INTERVAL_MS = 30_000

/** Limits how often config changes the templates of DaemonSets. */
export class PinPace {
  /** Monotonic time from which on the whole burst is allowed again, by Rollout. */
  readonly #restedMs = new Map<string, number>()

  /**
   * @param rollout `namespace/name`
   * @param nowMs monotonic milliseconds
   * @returns milliseconds until config may change the template again; 0: now
   */
  waitMs(rollout: string, nowMs: number): number {
    return Math.max(0, (this.#restedMs.get(rollout) ?? nowMs) - (BURST - 1) * INTERVAL_MS - nowMs)
  }

  /** Counts a change. */
  count(rollout: string, nowMs: number): void {
    this.#restedMs.set(rollout, Math.max(this.#restedMs.get(rollout) ?? nowMs, nowMs) + INTERVAL_MS)
  }

  /** Forgets a Rollout that is gone. */
  delete(rollout: string): void {
    this.#restedMs.delete(rollout)
  }
}
