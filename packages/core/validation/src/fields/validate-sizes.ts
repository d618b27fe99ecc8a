import type { IntOrString } from '@tranche/kube-types'
import { type Problem, problemOf } from '../problems/problem.ts'
import type { ProblemRule } from '../problems/rules.ts'
import { resolveSize } from './step-sizes.ts'

/** Key of the set of all desired nodes. */
export const EVERY_NODE = 'every node'

/** A list of cumulative sizes: the steps of a Rollout or the batches of a BatchRelease. */
export interface SizeList {
  readonly sizes: readonly (IntOrString | undefined)[]
  /** Key of the node set of each size; only sizes of the same set are compared. @default one set for all */
  readonly sets?: readonly string[]
  /** Path of the size at an index, in the notation of the API server. */
  readonly pathOf: (index: number) => string
  /** Name of the list in messages that name an entry. */
  readonly list: 'steps' | 'batches'
  /** Rules for an invalid size and for a size that shrinks. */
  readonly rules: { readonly size: ProblemRule; readonly shrinks: ProblemRule }
}

/** Reports an invalid size: anything but a whole number ≥ 1 or a percentage from 1% to 100%. */
export function sizeProblems({ sizes, pathOf, list, rules }: SizeList, index: number): readonly Problem[] {
  const size = sizes[index]
  const wrong = wrongSize(size, list === 'steps' ? 'step' : 'batch')
  return wrong === null ? [] : [problemOf(rules.size, { path: pathOf(index), value: size, ...wrong })]
}

function wrongSize(size: IntOrString | undefined, entry: 'step' | 'batch'): { readonly message?: string; readonly fix?: string } | null {
  if (size === undefined) return {}
  if (typeof size === 'number') {
    return Number.isInteger(size) && size >= 1 ? null : { message: `a ${entry} must update a whole number of nodes, at least 1` }
  }
  if (/^\d+$/.test(size)) return { message: 'a number of nodes must not be quoted', fix: unquoted(size) }
  if (!/^\d+%$/.test(size)) return { message: 'it must be a whole number or a percentage' }
  const percent = Number(size.slice(0, -1))
  if (percent === 0) return { message: `a ${entry} must update at least one node`, fix: `set it to "1%" or more, or remove the ${entry}` }
  if (percent > 100) return { message: 'a percentage must be at most 100%', fix: 'set it to "100%" or less' }
  return null
}

function unquoted(size: string): string {
  const number = Number(size)
  return number <= 100 ? `write ${number}, or "${number}%"` : `write ${number}`
}

/**
 * Reports sizes that are certainly smaller than an earlier one. Each is compared with the largest before it, so that the
 * size in the fix is large enough.
 *
 * @param desired nodes on which the DaemonSet should run; null while unknown: numbers are then compared only with numbers, and
 *   percentages only with percentages
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
        message: `sizes are cumulative and must not shrink, and ${list}[${largest}] has ${earlier}`,
        fix: `set it to at least ${earlier}, or make ${list}[${largest}] smaller`,
      }),
    ]
  })
}

/** Whether a size is a whole number ≥ 1 or a percentage from 1% to 100%. */
export function isSize(size: IntOrString | undefined): size is IntOrString {
  return size !== undefined && wrongSize(size, 'step') === null
}

/** Compares a number with a percentage only when the desired nodes are known. */
function isSmaller(size: IntOrString, earlier: IntOrString | undefined, desired: number | null): boolean {
  if (!isSize(earlier)) return false
  if (typeof size === typeof earlier) return Number.parseInt(String(size), 10) < Number.parseInt(String(earlier), 10)
  return desired !== null && resolveSize(size, desired) < resolveSize(earlier, desired)
}
