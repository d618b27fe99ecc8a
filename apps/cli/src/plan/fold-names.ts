/**
 * Sorts names and folds consecutive numbers: `node-[001-006,009]`, `edge-a`. Keeps the number of digits.
 */
export function foldNames(names: readonly string[]): readonly string[] {
  const groups = Map.groupBy(names, groupOf)
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, alike]) => folded(alike))
}

/**
 * Folds the first names that fit, and counts the others: `node-[001-006,009] +12 more`. Where none fits, it counts all: `13 nodes`.
 *
 * @param width maximum number of characters; a single name may be longer
 */
export function foldNamesWithin(names: readonly string[], width: number): string {
  const all = foldNames(names).join(' ')
  if (all.length <= width || names.length < 2) return all
  const sorted = [...Map.groupBy(names, groupOf)].toSorted(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, alike]) => alike.toSorted(byNumber))
  const textOf = (count: number): string => `${foldNames(sorted.slice(0, count)).join(' ')} +${names.length - count} more`
  let [fits, exceeds] = [1, names.length]
  while (exceeds - fits > 1) {
    const middle = (fits + exceeds) >> 1
    if (textOf(middle).length <= width) fits = middle
    else exceeds = middle
  }
  return textOf(fits).length <= width ? textOf(fits) : `${names.length} nodes`
}

function byNumber(a: string, b: string): number {
  return Number(numbered.exec(a)?.[2] ?? 0) - Number(numbered.exec(b)?.[2] ?? 0)
}

/** Prefix, number and suffix of a name. */
const numbered = /^(.*?)(\d{1,15})(\D*)$/

function groupOf(name: string): string {
  const [, before, digits = '', behind] = numbered.exec(name) ?? []
  return before === undefined ? name : `${before} ${digits.length} ${behind}`
}

function folded(alike: readonly string[]): string {
  const [first = ''] = alike
  const [, before = '', digits = '', behind = ''] = numbered.exec(first) ?? []
  if (alike.length === 1 || digits === '') return first
  const numbers = alike.map((name) => Number(numbered.exec(name)?.[2])).toSorted((a, b) => a - b)
  const text = (number: number): string => String(number).padStart(digits.length, '0')
  const runs = runsOf(numbers).map(([from, to]) => (from === to ? text(from) : `${text(from)}-${text(to)}`))
  return `${before}[${runs.join(',')}]${behind}`
}

function runsOf(numbers: readonly number[]): readonly (readonly [number, number])[] {
  const runs: [number, number][] = []
  for (const number of numbers) {
    const last = runs.at(-1)
    if (last !== undefined && number === last[1] + 1) last[1] = number
    else runs.push([number, number])
  }
  return runs
}
