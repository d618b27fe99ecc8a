import type { Problem } from '../problems/problem.ts'
import { problemsWithin } from './oversize-problems.ts'

/**
 * Keeps the problems of each spec, for the number of nodes that was asked for last. Every pass checks the same specs, and their queries and
 * conditions cost milliseconds.
 *
 * @param check called where the spec is within its limits of size
 */
export function keptProblems<Spec extends object>(
  kind: 'Rollout' | 'BatchRelease',
  check: (spec: Spec, desired: number | null) => readonly Problem[],
): (spec: Spec, desired: number | null) => readonly Problem[] {
  const kept = new WeakMap<Spec, { readonly desired: number | null; readonly problems: readonly Problem[] }>()
  return (spec, desired) => {
    const known = kept.get(spec)
    if (known?.desired === desired) return known.problems
    const problems = problemsWithin(kind, spec, () => check(spec, desired))
    kept.set(spec, { desired, problems })
    return problems
  }
}
