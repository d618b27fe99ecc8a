import { diffLines } from 'diff'

/** One line of a difference. */
export interface DiffRow {
  readonly sign: '+' | '-' | ' '
  readonly text: string
}

/** Rows that are next to each other, or unchanged rows that are left out. */
export type DiffBlock = { readonly kind: 'rows'; readonly rows: readonly DiffRow[] } | { readonly kind: 'folded'; readonly lines: number }

/** Longest time that a comparison takes, in milliseconds. */
const TIMEOUT_MS = 1_000

/** @returns the lines of both texts, in order; undefined if they are too long and too different to compare */
export function diffRows(from: string, to: string): readonly DiffRow[] | undefined {
  const changes = diffLines(`${from}\n`, `${to}\n`, { timeout: TIMEOUT_MS })
  return changes?.flatMap(({ value, added, removed }) => {
    const sign = added ? '+' : removed ? '-' : ' '
    return value
      .slice(0, -1)
      .split('\n')
      .map((text) => ({ sign, text }))
  })
}

/** Unchanged lines that stay visible before and after a change. */
const CONTEXT = 3

/** Leaves out unchanged rows that are further than three lines from a change. */
export function foldRows(rows: readonly DiffRow[]): readonly DiffBlock[] {
  const changed = rows.flatMap(({ sign }, at) => (sign === ' ' ? [] : [at]))
  const isNear = rows.map(() => false)
  for (const at of changed) isNear.fill(true, Math.max(0, at - CONTEXT), at + CONTEXT + 1)
  // Folding one line saves nothing.
  const isShown = isNear.map((near, at) => near || (isNear[at - 1] !== false && isNear[at + 1] !== false))
  const blocks: DiffBlock[] = []
  for (let start = 0, end = 0; start < rows.length; start = end) {
    while (end < rows.length && isShown[end] === isShown[start]) end++
    blocks.push(isShown[start] === true ? { kind: 'rows', rows: rows.slice(start, end) } : { kind: 'folded', lines: end - start })
  }
  return blocks
}
