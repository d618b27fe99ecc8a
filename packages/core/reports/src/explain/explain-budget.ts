import { budgetUsersText, firstNodes } from '@tranche/planner'
import { type Outline, progressOf } from '../outline.ts'
import { budgetUsersIn } from '../report-budget.ts'
import { deadNext } from '../standstill.ts'

/** Users of the budget, as text: nodes that are down, and permits, which use it before their pods are deleted. */
export function countedText(outline: Outline, counted: readonly string[]): string {
  const gone = downOf(outline, counted)
  const permitted = counted.filter((name) => !gone.includes(name))
  const deletions = permitted.length === 0 ? '' : `${permitted.length} whose deletion is permitted (${firstNodes(permitted)})`
  return [gone.length === 0 ? '' : usersText(outline, gone), deletions].filter(Boolean).join(', ')
}

/** @returns those of the nodes that are down */
export function downOf(outline: Outline, names: readonly string[]): readonly string[] {
  const down = new Set(progressOf(outline).unavailable)
  return names.filter((name) => down.has(name))
}

/** End of a wait for the budget. */
export function budgetNext(outline: Outline, limit: number): string {
  return `${limit === 1 ? 'no node is down' : `fewer than ${limit} nodes are down`}${deadNext(outline)}`
}

/** @returns nodes that are down, by how they use the budget */
export function usersText(outline: Outline, down: readonly string[]): string {
  return budgetUsersText(budgetUsersIn(outline, down))
}
