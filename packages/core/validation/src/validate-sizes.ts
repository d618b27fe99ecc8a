import type { IntOrString } from '@tranche/kube-types'
import { type Problem, problemOf } from './problem.ts'
import type { ProblemRule } from './rules.ts'
import { resolveSize } from './step-sizes.ts'

/** Key of a size that is one of every desired node. */
export const EVERY_NODE = 'every node'

/** A list of cumulative sizes: the steps of a Rollout or the batches of a BatchRelease. */
export interface SizeList {
  readonly sizes: readonly (IntOrString | undefined)[]
  /** Of which nodes each is a size; only sizes of the same nodes are compared. Absent: all are of the same. */
  readonly sets?: readonly string[]
  /** Path of one size. */
  readonly pathOf: (index: number) => string
  /** What the list is called where one of its entries is named. */
  readonly list: 'steps' | 'batches'
  /** Rule of a size that is none, and of one that shrinks. */
  readonly rules: { readonly size: ProblemRule; readonly shrinks: ProblemRule }
}

/** A size that is none: a number below 1, a percentage outside 1% to 100%, anything else. */
export function sizeProblems({ sizes, pathOf, list, rules }: SizeList, index: number): readonly Problem[] {
  const size = sizes[index]
  const wrong = wrongSize(size, list === 'steps' ? 'step' : 'batch')
  return wrong === null ? [] : [problemOf(rules.size, { path: pathOf(index), value: size, ...wrong })]
}

function wrongSize(size: IntOrString | undefined, entry: 'step' | 'batch'): { readonly message?: string; readonly fix?: string } | null {
  if (size === undefined) return {}
  if (typeof size === 'number') {
    return Number.isInteger(size) && size >= 1 ? null : { message: `a ${entry} updates a whole number of nodes from 1` }
  }
  if (/^\d+$/.test(size)) return { message: 'a number of nodes is written without quotes', fix: unquoted(size) }
  if (!/^\d+%$/.test(size)) return { message: 'it is neither a whole number nor a percentage' }
  const percent = Number(size.slice(0, -1))
  if (percent === 0) return { message: `a ${entry} updates at least one node`, fix: `set it to "1%" or more, or remove the ${entry}` }
  if (percent > 100) return { message: 'a percentage is at most 100%', fix: 'set it to "100%" or less' }
  return null
}

function unquoted(size: string): string {
  const number = Number(size)
  return number <= 100 ? `write ${number}, or "${number}%"` : `write ${number}`
}

/**
 * Sizes that are certainly smaller than an earlier one. Each is compared with the largest before it, not only with its
 * neighbour: what the fix names is enough.
 *
 * @param desired nodes on which the DaemonSet should run; null while not known, then numbers and percentages are compared
 *   among themselves only
 */
export function shrinkingProblems({ sizes, sets, pathOf, list, rules }: SizeList, desired: number | null): readonly Problem[] {
  return sizes.flatMap((size, index) => {
    if (!isSize(size)) return []
    const nodes = (sets?.[index] ?? EVERY_NODE) === EVERY_NODE ? desired : null
    const larger = sizes
      .slice(0, index)
      .flatMap((earlier, at) => (sets?.[at] === sets?.[index] && isSmaller(size, earlier, nodes) ? [at] : []))
    const [first, ...others] = larger
    if (first === undefined) return []
    const largest = others.reduce((best, at) => (isSmaller(sizes[best]!, sizes[at], nodes) ? at : best), first)
    const earlier = JSON.stringify(sizes[largest])
    return [
      problemOf(rules.shrinks, {
        path: pathOf(index),
        value: size,
        message: `sizes are cumulative and never shrink, and ${list}[${largest}] has ${earlier}`,
        fix: `set it to at least ${earlier}, or make ${list}[${largest}] smaller`,
      }),
    ]
  })
}

/** Whether it is a whole number from 1, or a percentage from 1% to 100%. */
export function isSize(size: IntOrString | undefined): size is IntOrString {
  return size !== undefined && wrongSize(size, 'step') === null
}

/** Numbers and percentages meet only where the desired nodes are known. */
function isSmaller(size: IntOrString, earlier: IntOrString | undefined, desired: number | null): boolean {
  if (!isSize(earlier)) return false
  if (typeof size === typeof earlier) return Number.parseInt(String(size), 10) < Number.parseInt(String(earlier), 10)
  return desired !== null && resolveSize(size, desired) < resolveSize(earlier, desired)
}
