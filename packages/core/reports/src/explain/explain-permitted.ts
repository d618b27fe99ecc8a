import { type Explanation, NOT_DELETED } from '@tranche/api-schema'
import { type Outline, progressOf } from '../outline.ts'
import { nextText } from '../standstill.ts'
import { budgetNext, usersText } from './explain-budget.ts'
/** The rule that decides about a node, the explanation, and the event that would change it. */
export interface NodeAnswer {
  readonly rule: string
  readonly answer: string
  readonly next?: string | undefined
  readonly facts?: Explanation['facts']
}

/** @returns the answer for a node whose pod executors may delete now */
export function permittedNow(outline: Outline, name: string): NodeAnswer {
  const { release } = outline
  const { waiting } = release?.status ?? {}
  if (waiting?.reason === NOT_DELETED && waiting.nodes.includes(name))
    return {
      rule: NOT_DELETED,
      answer: `executors may delete the pod on ${name}, and have not for 2 minutes`,
      next: nextText(outline),
    }
  if (release?.spec.tranche?.drain === undefined)
    return {
      rule: 'Next',
      answer: `${name} is about to be updated: its pod may be deleted now`,
      next: 'an executor deletes its pod',
    }
  return {
    rule: 'Next',
    answer: `${name} is about to be updated: an executor drains it`,
    next: 'the pods that use the agent have left the node; then an executor deletes the pod of the agent',
  }
}

/** @returns the answer for a node whose permit waits for the budget */
export function permittedLater(outline: Outline, name: string): NodeAnswer {
  const { unavailable } = progressOf(outline)
  const limit = outline.release?.status?.flight?.limit ?? 0
  const used = unavailable.length < limit ? '' : `, which is used up: ${usersText(outline, unavailable)}`
  const answer = `${name} is next: the deletion of its pod is permitted and waits for the maxUnavailable budget (${limit})${used}`
  return { rule: 'Budget', answer, next: budgetNext(outline, limit) }
}
