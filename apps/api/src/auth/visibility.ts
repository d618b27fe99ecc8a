import pLimit from 'p-limit'
import { accessResources } from './access.ts'
import type { Caller } from './caller.ts'
import type { Question, Reviews } from './reviews.ts'

/** Maximum number of concurrent reviews per caller: a caller with many namespaces must not use all connections to the API server. */
const SIDE_BY_SIDE = 8

/** Namespaces whose Rollouts a caller may list. */
export interface Visibility {
  /** True if the caller may list the Rollouts of every namespace, including future ones. */
  readonly isEverywhere: boolean
  /** The visible ones among the namespaces in question. */
  readonly namespaces: ReadonlySet<string>
}

/**
 * @param namespaces in question
 * @returns the namespaces whose Rollouts the caller may list; all of them if the caller may list Rollouts in all namespaces
 * @throws {AppError} REVIEW_UNAVAILABLE
 */
export async function visibleNamespaces(reviews: Reviews, caller: Caller, namespaces: Iterable<string>): Promise<ReadonlySet<string>> {
  return (await readVisibility(reviews, caller, namespaces)).namespaces
}

/**
 * @param namespaces in question
 * @returns the visible ones, and whether the caller may list Rollouts in all namespaces
 * @throws {AppError} REVIEW_UNAVAILABLE
 */
export async function readVisibility(reviews: Reviews, caller: Caller, namespaces: Iterable<string>): Promise<Visibility> {
  const wanted = [...new Set(namespaces)]
  if (wanted.length > 1 && (await mayListAll(reviews, caller))) return { isEverywhere: true, namespaces: new Set(wanted) }
  const limit = pLimit(SIDE_BY_SIDE)
  try {
    const answers = await limit.map(wanted, (namespace) => reviews.isAllowed(caller, listRollouts(namespace)))
    return { isEverywhere: false, namespaces: new Set(wanted.filter((_namespace, at) => answers[at])) }
  } finally {
    limit.clearQueue()
  }
}

/**
 * Whether the caller may list the Rollouts of every namespace.
 *
 * @throws {AppError} REVIEW_UNAVAILABLE
 */
export function mayListAll(reviews: Reviews, caller: Caller): Promise<boolean> {
  return reviews.isAllowed(caller, listRollouts(''))
}

function listRollouts(namespace: string): Question {
  return { kind: 'resource', verb: 'list', ...accessResources.rollouts, namespace, name: '' }
}
