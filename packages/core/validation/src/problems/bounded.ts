import { type Advice, adviceOf, type Problem, problemOf } from './problem.ts'

/** Maximum number of findings of one check about one object. After them follows one that says that there are more. */
export const MOST_FINDINGS = 20

/**
 * Finds what is wrong with each item, as `flatMap` does, but ends once there are more findings than a check reports. A user could
 * otherwise make one check find a million.
 */
export function findingsOfEach<Item, Found>(
  items: readonly Item[],
  find: (item: Item, index: number) => readonly Found[],
): readonly Found[] {
  const found: Found[] = []
  for (const [index, item] of items.entries()) {
    found.push(...find(item, index).slice(0, MOST_FINDINGS + 1))
    if (found.length > MOST_FINDINGS) break
  }
  return found
}

/** @returns the first problems, and one that says that there are more, where there are too many to list */
export function firstProblems(problems: readonly Problem[]): readonly Problem[] {
  if (problems.length <= MOST_FINDINGS) return problems
  const { reason } = problems[0]!
  return [...problems.slice(0, MOST_FINDINGS), { ...problemOf('MoreProblems', { value: `more than ${MOST_FINDINGS} problems` }), reason }]
}

/** @returns the first pieces of advice, and one that says that there is more, where there is too much to list */
export function firstAdvice(advice: readonly Advice[]): readonly Advice[] {
  if (advice.length <= MOST_FINDINGS) return advice
  return [...advice.slice(0, MOST_FINDINGS), adviceOf('MoreAdvice', { value: `more than ${MOST_FINDINGS} pieces of advice` })]
}
