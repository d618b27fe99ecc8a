/** Limits how often something happens for each Rollout: a number of times in a row, then once in an interval. */
export class PinPace {
  readonly #burst: number
  readonly #intervalMs: number
  /** Monotonic time from which on the whole burst is allowed again, by Rollout. */
  readonly #restedMs = new Map<string, number>()

  /**
   * @param burst number of times in a row (≥ 1)
   * @param intervalMs milliseconds between further ones
   */
  constructor(burst: number, intervalMs: number) {
    this.#burst = burst
    this.#intervalMs = intervalMs
  }

  /**
   * @param rollout `namespace/name`
   * @param nowMs monotonic milliseconds
   * @returns milliseconds until it may happen again; 0: now
   */
  waitMs(rollout: string, nowMs: number): number {
    return Math.max(0, (this.#restedMs.get(rollout) ?? nowMs) - (this.#burst - 1) * this.#intervalMs - nowMs)
  }

  /** Counts one time. */
  count(rollout: string, nowMs: number): void {
    this.#restedMs.set(rollout, Math.max(this.#restedMs.get(rollout) ?? nowMs, nowMs) + this.#intervalMs)
  }

  /** Forgets a Rollout that is gone. */
  delete(rollout: string): void {
    this.#restedMs.delete(rollout)
  }
}
