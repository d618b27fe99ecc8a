/**
 * Numbers that look random and are the same for the same seed.
 *
 * @param seed any text
 * @returns a function giving numbers from 0 up to but not including 1
 * @see mulberry32, a generator with 32 bits of state
 */
export function createRandom(seed: string): () => number {
  let state = 0
  for (let at = 0; at < seed.length; at++) state = (Math.imul(state ^ seed.charCodeAt(at), 0x9e3779b1) + at) | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
