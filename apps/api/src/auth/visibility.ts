import { accessResources } from './access.ts'
import type { Caller } from './caller.ts'
import type { Question, Reviews } from './reviews.ts'

/** Questions under way for one caller at a time: a caller with many namespaces must not take all connections to the API server. */
const SIDE_BY_SIDE = 8

/**
 * @param namespaces in question
 * @returns those of them whose Rollouts the caller may list; all of them where they may list them everywhere
 * @throws {AppError} REVIEW_UNAVAILABLE
 */
export async function visibleNamespaces(reviews: Reviews, caller: Caller, namespaces: Iterable<string>): Promise<ReadonlySet<string>> {
  const wanted = [...new Set(namespaces)]
  if (wanted.length === 0) return new Set()
  if (wanted.length > 1 && (await reviews.isAllowed(caller, listRollouts('')))) return new Set(wanted)
  const visible = new Set<string>()
  const left = wanted.values()
  await Promise.all(
    Array.from({ length: Math.min(SIDE_BY_SIDE, wanted.length) }, async () => {
      for (const namespace of left) if (await reviews.isAllowed(caller, listRollouts(namespace))) visible.add(namespace)
    }),
  )
  return visible
}

function listRollouts(namespace: string): Question {
  return { kind: 'resource', verb: 'list', ...accessResources.rollouts, namespace, name: '' }
}
