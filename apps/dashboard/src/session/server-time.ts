/** Time of the server, estimated from the `Date` of its responses. */
export interface ServerTime {
  /** Epoch milliseconds. */
  nowMs(): number
  /** Difference between server and browser, in milliseconds; 0 until it is worth a correction. */
  readonly offsetMs: number
  /** @param date value of a `Date` header, in whole seconds */
  observe(date: string | null): void
}

/** Smaller differences are within the precision of the header and the time that a response takes. */
const TOLERATED_MS = 2_000

/** @param browserMs clock of the browser, in epoch milliseconds */
export function createServerTime(browserMs: () => number): ServerTime {
  let offsetMs = 0
  return {
    nowMs: () => browserMs() + offsetMs,
    get offsetMs() {
      return offsetMs
    },
    observe(date) {
      const serverMs = date === null ? Number.NaN : Date.parse(date)
      if (Number.isNaN(serverMs)) return
      const differenceMs = serverMs - browserMs()
      offsetMs = Math.abs(differenceMs) <= TOLERATED_MS ? 0 : differenceMs
    },
  }
}
