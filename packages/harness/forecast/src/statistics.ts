/** @returns arithmetic mean; 0 for an empty list */
export function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

/** @returns median, the greater of two middle values; undefined for an empty list */
export function medianOf(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}

/** @returns variance; 0 for an empty list */
export function varianceOf(values: readonly number[]): number {
  const mean = meanOf(values)
  return meanOf(values.map((value) => (value - mean) ** 2))
}

/** Deterministic random numbers, uniform in [0, 1). @see Steele and Vigna, SplitMix */
export function createSequence(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
}
