import { accessResources } from './access.ts'
import type { Caller } from './caller.ts'
import type { Question, Reviews } from './reviews.ts'

/** Questions under way for one caller at a time: a caller with many namespaces must not take all connections to the API server. */
const SIDE_BY_SIDE = 8

/** Of which namespaces somebody may list the Rollouts. */
export interface Visibility {
  /** They may list those of every namespace, also of one that nobody has asked about yet. */
  readonly isEverywhere: boolean
  /** Of those that were asked about. */
  readonly namespaces: ReadonlySet<string>
}

/**
 * @param namespaces in question
 * @returns those of them whose Rollouts the caller may list; all of them where they may list them everywhere
 * @throws {AppError} REVIEW_UNAVAILABLE
 */
export async function visibleNamespaces(reviews: Reviews, caller: Caller, namespaces: Iterable<string>): Promise<ReadonlySet<string>> {
  return (await readVisibility(reviews, caller, namespaces)).namespaces
}

/**
 * @param namespaces in question
 * @returns which of them the caller may see, and whether of every other as well
 * @throws {AppError} REVIEW_UNAVAILABLE
 */
export async function readVisibility(reviews: Reviews, caller: Caller, namespaces: Iterable<string>): Promise<Visibility> {
  const wanted = [...new Set(namespaces)]
  if (wanted.length > 1 && (await reviews.isAllowed(caller, listRollouts('')))) return { isEverywhere: true, namespaces: new Set(wanted) }
  const visible = new Set<string>()
  const left = wanted.values()
  await Promise.all(
    Array.from({ length: Math.min(SIDE_BY_SIDE, wanted.length) }, async () => {
      for (const namespace of left) if (await reviews.isAllowed(caller, listRollouts(namespace))) visible.add(namespace)
    }),
  )
  return { isEverywhere: false, namespaces: visible }
}

function listRollouts(namespace: string): Question {
  return { kind: 'resource', verb: 'list', ...accessResources.rollouts, namespace, name: '' }
}
