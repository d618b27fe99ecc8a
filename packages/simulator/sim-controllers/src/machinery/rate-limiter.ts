/** Back-off of failing keys. */
export interface RateLimiter {
  /** Counts another failure of `key`. @returns milliseconds to wait */
  delayMs(key: string): number
  forget(key: string): void
}

const FIRST_MS = 5
const MAX_MS = 1_000_000
const PER_SECOND = 10
const BURST = 100

/**
 * Rate limits of Kubernetes' controllers: 5 ms doubling to 1000 s per key, and ten per second in total after a burst of a hundred. The
 * longer wait applies.
 *
 * @param monotonicMs the clock's monotonic time
 */
export function createRateLimiter(monotonicMs: () => number): RateLimiter {
  const failures = new Map<string, number>()
  let tokens = BURST
  let countedMs = monotonicMs()

  function reserve(): number {
    const nowMs = monotonicMs()
    tokens = Math.min(BURST, tokens + ((nowMs - countedMs) * PER_SECOND) / 1000) - 1
    countedMs = nowMs
    return tokens >= 0 ? 0 : (-tokens * 1000) / PER_SECOND
  }

  return {
    delayMs(key) {
      const count = failures.get(key) ?? 0
      failures.set(key, count + 1)
      return Math.max(Math.min(FIRST_MS * 2 ** count, MAX_MS), reserve())
    },
    forget: (key) => void failures.delete(key),
  }
}
