/** Random numbers that depend only on their seed. */
export interface Random {
  /** @returns a number ≥ 0 and < 1 */
  next(): number
  /** @returns a whole number ≥ 0 and < `below` */
  integer(below: number): number
}

/** @param seed values that together identify the sequence, for example the seed of the run and the consumer */
export function createRandom(...seed: readonly (string | number)[]): Random {
  let state = hashText(seed.join('\0'))
  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { next, integer: (below) => Math.floor(next() * below) }
}

/** @returns a version 4 UUID */
export function randomUuid(random: Random): string {
  const digits = Array.from({ length: 32 }, () => random.integer(16).toString(16))
  digits[12] = '4'
  digits[16] = (8 + random.integer(4)).toString(16)
  const text = digits.join('')
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`
}

/** 32-bit FNV-1a, mixed once more so that similar seeds give unrelated sequences. */
function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x85ebca6b)
  return hash ^ (hash >>> 13)
}
