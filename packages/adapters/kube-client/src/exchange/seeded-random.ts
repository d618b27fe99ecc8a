/** Source of numbers in [0, 1). */
export type Random = () => number

/**
 * Creates a small generator for jitter whose sequence depends only on its seed. Not for secrets.
 *
 * @param seed any whole number; only its lowest 32 bits count
 * @see Marsaglia, "Xorshift RNGs" (2003)
 */
export function createRandom(seed: number): Random {
  // The state must not be zero, and neighbouring seeds should not start alike.
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 4_294_967_296
  }
}

/** Parameters of an exponential back-off, in milliseconds. */
export interface Backoff {
  readonly firstMs: number
  readonly mostMs: number
}

/**
 * @param failures number of failed attempts in a row (≥ 1)
 * @returns between half and all of `firstMs · 2^(failures − 1)`, never above `mostMs`
 */
export function backoffMs(backoff: Backoff, failures: number, random: Random): number {
  const fullMs = Math.min(backoff.mostMs, backoff.firstMs * 2 ** Math.min(failures - 1, 30))
  return fullMs * (0.5 + random() / 2)
}
