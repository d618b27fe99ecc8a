import { closest, distance } from 'fastest-levenshtein'

/** Letters per allowed mistake. */
const LETTERS_PER_MISTAKE = 2

/** @returns the most similar name, with at most half of its letters different; undefined if there is none */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined
  const nearest = closest(name, [...names])
  return distance(name, nearest) * LETTERS_PER_MISTAKE <= Math.max(name.length, nearest.length) ? nearest : undefined
}
