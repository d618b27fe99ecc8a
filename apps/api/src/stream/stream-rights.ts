import type { Clock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import { accessResources, questionText } from '../auth/access.ts'
import type { Caller } from '../auth/caller.ts'
import type { RememberedReviews } from '../auth/remembered-reviews.ts'
import type { Question } from '../auth/reviews.ts'
import { visibleNamespaces } from '../auth/visibility.ts'

/** What a stream is about: everything, one namespace, or one Rollout. */
export interface StreamScope {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

/** What the reader of a stream may see, as far as it is known. */
export interface StreamRights {
  mayRead(key: ObjectKey): boolean
  /**
   * Asks again, by the token that the stream came with.
   *
   * @param namespaces of all Rollouts
   * @returns namespaces that may be seen now and could not before, and the other way round; null where the stream must end
   */
  recheck(namespaces: ReadonlySet<string>): Promise<{ readonly gained: ReadonlySet<string>; readonly lost: ReadonlySet<string> } | null>
}

/** How long the last answers count while the API server gives none, in milliseconds. */
const TRUST_MS = 30_000

/**
 * @param request whose stream it is, and whom its token stands for at the moment; null: nobody any more
 * @throws {AppError} ACCESS_DENIED where one namespace or one Rollout is asked for that may not be seen; REVIEW_UNAVAILABLE
 */
export async function readStreamRights(
  { reviews, clock }: { readonly reviews: RememberedReviews; readonly clock: Clock },
  { caller: first, callerNow }: { readonly caller: Caller; readonly callerNow: () => Promise<Caller | null> },
  { scope, namespaces }: { readonly scope: StreamScope; readonly namespaces: ReadonlySet<string> },
): Promise<StreamRights> {
  const one = questionOf(scope)
  let caller = first
  if (one !== null && !(await reviews.isAllowed(caller, one)))
    throw new AppError('ACCESS_DENIED', `user ${JSON.stringify(caller.username)} may not ${questionText(one)}`, {
      hint: 'Ask for a role that grants it.',
    })
  let visible = await visibleNow(namespaces)
  let askedMs = clock.monotonicMs()

  async function visibleNow(among: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    if (one === null) return visibleNamespaces(reviews, caller, among)
    return (await reviews.isAllowed(caller, one)) ? new Set([scope.namespace ?? '']) : new Set()
  }

  return {
    mayRead: ({ namespace, name }) => visible.has(namespace) && (scope.name === undefined || scope.name === name),
    async recheck(among) {
      const before = visible
      try {
        const now = await callerNow()
        if (now === null || now.username !== first.username) return null
        // Groups come and go with the same token.
        caller = now
        visible = await visibleNow(among)
        askedMs = clock.monotonicMs()
      } catch (error) {
        if (clock.monotonicMs() - askedMs > TRUST_MS) return null
        if (!(error instanceof AppError)) throw error
      }
      if (one !== null && visible.size === 0) return null
      return { gained: visible.difference(before), lost: before.difference(visible) }
    },
  }
}

/** @returns null for everything, which is looked at namespace by namespace */
function questionOf({ namespace, name }: StreamScope): Question | null {
  if (namespace === undefined) return null
  const verb = name === undefined ? 'list' : 'get'
  return { kind: 'resource', verb, ...accessResources.rollouts, namespace, name: name ?? '' }
}
