import { closest, distance } from 'fastest-levenshtein'

/** Of so many letters one may be wrong before another name was meant. */
const LETTERS_PER_MISTAKE = 2

/** @returns the name that was most likely meant: at most half of its letters are others; undefined where none comes near */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined
  const nearest = closest(name, [...names])
  return distance(name, nearest) * LETTERS_PER_MISTAKE <= Math.max(name.length, nearest.length) ? nearest : undefined
}
