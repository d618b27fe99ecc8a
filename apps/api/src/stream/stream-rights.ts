import { createHash } from 'node:crypto'
import type { Clock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import { accessResources, questionText } from '../auth/access.ts'
import type { Caller } from '../auth/caller.ts'
import type { RememberedReviews } from '../auth/remembered-reviews.ts'
import type { Question } from '../auth/reviews.ts'
import { readVisibility, type Visibility } from '../auth/visibility.ts'

/** Scope of a stream: everything, one namespace, or one Rollout. */
export interface StreamScope {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

/** Last known rights of a stream's reader. */
export interface StreamRights {
  mayRead(key: ObjectKey): boolean
  /** Hash of scope and visible namespaces, in hexadecimal; reveals nothing about them. */
  readonly digest: string
  /**
   * Checks the rights again with the token of the stream.
   *
   * @param namespaces of all Rollouts
   * @returns namespaces that have become visible or hidden; null if the stream must end
   */
  recheck(namespaces: ReadonlySet<string>): Promise<{ readonly gained: ReadonlySet<string>; readonly lost: ReadonlySet<string> } | null>
}

/** Time for which the last known rights remain valid while the API server does not answer, in milliseconds. */
const TRUST_MS = 30_000

/**
 * @param request caller of the stream, and a function that authenticates again (null: the token is no longer valid)
 * @throws {AppError} ACCESS_DENIED if the caller may not see the requested namespace or Rollout; REVIEW_UNAVAILABLE
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
        // The groups of a user can change with the same token.
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

/** @returns namespaces that are visible in `visibility` but not in `other` */
function seenIn(among: ReadonlySet<string>, visibility: Visibility, other: Visibility): ReadonlySet<string> {
  const known = among.union(visibility.namespaces)
  return new Set([...known].filter((namespace) => isVisible(visibility, namespace) && !isVisible(other, namespace)))
}

/** Length of the digest, in hexadecimal digits. */
const DIGEST_LENGTH = 16

function digestOf({ namespace = '', name = '' }: StreamScope, { isEverywhere, namespaces }: Visibility): string {
  const shown = isEverywhere ? '*' : [...namespaces].sort()
  return createHash('sha256')
    .update(JSON.stringify([namespace, name, shown]))
    .digest('hex')
    .slice(0, DIGEST_LENGTH)
}

/** @returns null for the scope of everything, which is checked per namespace */
function questionOf({ namespace, name }: StreamScope): Question | null {
  if (namespace === undefined) return null
  const verb = name === undefined ? 'list' : 'get'
  return { kind: 'resource', verb, ...accessResources.rollouts, namespace, name: name ?? '' }
}
