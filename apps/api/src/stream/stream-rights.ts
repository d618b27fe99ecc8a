import { createHash } from 'node:crypto'
import type { Clock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import { accessResources, questionText } from '../auth/access.ts'
import type { Caller } from '../auth/caller.ts'
import type { RememberedReviews } from '../auth/remembered-reviews.ts'
import type { Question } from '../auth/reviews.ts'
import { readVisibility, type Visibility } from '../auth/visibility.ts'

/** What a stream is about: everything, one namespace, or one Rollout. */
export interface StreamScope {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

/** What the reader of a stream may see, as far as it is known. */
export interface StreamRights {
  mayRead(key: ObjectKey): boolean
  /** The same for the same scope and the same namespaces, for nobody else, and nothing can be read from it: letters and digits. */
  readonly digest: string
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
  let visibility = await visibilityNow(namespaces)
  let askedMs = clock.monotonicMs()

  async function visibilityNow(among: ReadonlySet<string>): Promise<Visibility> {
    if (one === null) return readVisibility(reviews, caller, among)
    return { isEverywhere: false, namespaces: new Set((await reviews.isAllowed(caller, one)) ? [scope.namespace ?? ''] : []) }
  }

  return {
    mayRead: ({ namespace, name }) => isVisible(visibility, namespace) && (scope.name === undefined || scope.name === name),
    get digest() {
      return digestOf(scope, visibility)
    },
    async recheck(among) {
      const before = visibility
      try {
        const now = await callerNow()
        if (now === null || now.username !== first.username) return null
        // Groups come and go with the same token.
        caller = now
        visibility = await visibilityNow(among)
        askedMs = clock.monotonicMs()
      } catch (error) {
        if (clock.monotonicMs() - askedMs > TRUST_MS) return null
        if (!(error instanceof AppError)) throw error
      }
      if (one !== null && visibility.namespaces.size === 0) return null
      return { gained: seenIn(among, visibility, before), lost: seenIn(among, before, visibility) }
    },
  }
}

function isVisible({ isEverywhere, namespaces }: Visibility, namespace: string): boolean {
  return isEverywhere || namespaces.has(namespace)
}

/** @returns namespaces that `visibility` shows and `other` does not */
function seenIn(among: ReadonlySet<string>, visibility: Visibility, other: Visibility): ReadonlySet<string> {
  const known = among.union(visibility.namespaces)
  return new Set([...known].filter((namespace) => isVisible(visibility, namespace) && !isVisible(other, namespace)))
}

/** So many characters, of four bits each. */
const DIGEST_LENGTH = 16

function digestOf({ namespace = '', name = '' }: StreamScope, { isEverywhere, namespaces }: Visibility): string {
  const shown = isEverywhere ? '*' : [...namespaces].sort()
  return createHash('sha256')
    .update(JSON.stringify([namespace, name, shown]))
    .digest('hex')
    .slice(0, DIGEST_LENGTH)
}

/** @returns null for everything, which is looked at namespace by namespace */
function questionOf({ namespace, name }: StreamScope): Question | null {
  if (namespace === undefined) return null
  const verb = name === undefined ? 'list' : 'get'
  return { kind: 'resource', verb, ...accessResources.rollouts, namespace, name: name ?? '' }
}
