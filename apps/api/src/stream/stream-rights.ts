import { createHash } from 'node:crypto'
import type { Clock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import { accessResources, questionText } from '../auth/access.ts'
import type { Caller } from '../auth/caller.ts'
import type { RememberedReviews } from '../auth/remembered-reviews.ts'
import type { Question } from '../auth/reviews.ts'
import { readVisibility, type Visibility } from '../auth/visibility.ts'

/** Scope of a stream: everything, one namespace, or one Rollout. */
export interface StreamScope {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  /** Rollout whose nodes are streamed too. */
  readonly nodes?: ObjectKey | undefined
}

/** Last known rights of a stream's reader. */
export interface StreamRights {
  mayRead(key: ObjectKey): boolean
  /**
   * @param unbound the DaemonSet of the nodes if it is not bound to the Rollout
   * @returns whether the reader may see the nodes that it asked for
   */
  mayReadNodes(unbound: ObjectKey | undefined): boolean
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

/** Dependencies of {@link readStreamRights}. */
export interface StreamRightsParts {
  readonly reviews: RememberedReviews
  readonly clock: Clock
  /** The DaemonSet that a Rollout names but that is not bound to it; undefined without one. */
  readonly unboundWorkload: (rollout: ObjectKey) => ObjectKey | undefined
}

/** @throws {AppError} ACCESS_DENIED if the caller may not see the requested namespace or Rollout; REVIEW_UNAVAILABLE */
export async function checkScope(reviews: RememberedReviews, caller: Caller, scope: StreamScope): Promise<void> {
  const ofNodes = scope.nodes === undefined ? null : getQuestion('rollouts', scope.nodes)
  for (const question of [questionOf(scope), ofNodes])
    if (question !== null && !(await reviews.isAllowed(caller, question))) throw accessDenied(caller, question)
}

/**
 * @param request caller of the stream, and a function that authenticates again (null: the token is no longer valid)
 * @throws {AppError} ACCESS_DENIED if the caller may not see the requested namespace or Rollout; REVIEW_UNAVAILABLE
 */
export async function readStreamRights(
  { reviews, clock, unboundWorkload }: StreamRightsParts,
  { caller: first, callerNow }: { readonly caller: Caller; readonly callerNow: () => Promise<Caller | null> },
  { scope, namespaces }: { readonly scope: StreamScope; readonly namespaces: ReadonlySet<string> },
): Promise<StreamRights> {
  const one = questionOf(scope)
  const ofNodes = scope.nodes === undefined ? null : getQuestion('rollouts', scope.nodes)
  let caller = first
  await checkScope(reviews, caller, scope)
  /** The unbound DaemonSet that the reader may get. A Rollout may name another one later, which needs another review. */
  let workload = await readableWorkload()
  let visibility = await visibilityNow(namespaces)
  let askedMs = clock.monotonicMs()

  async function visibilityNow(among: ReadonlySet<string>): Promise<Visibility> {
    if (one === null) return readVisibility(reviews, caller, among)
    return { isEverywhere: false, namespaces: new Set((await reviews.isAllowed(caller, one)) ? [scope.namespace ?? ''] : []) }
  }

  async function readableWorkload(): Promise<ObjectKey | undefined> {
    const unbound = scope.nodes && unboundWorkload(scope.nodes)
    if (unbound === undefined) return undefined
    return (await reviews.isAllowed(caller, getQuestion('daemonsets', unbound))) ? unbound : undefined
  }

  return {
    mayReadNodes: (unbound) => unbound === undefined || (workload !== undefined && keyText(workload) === keyText(unbound)),
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
        if (ofNodes !== null && !(await reviews.isAllowed(caller, ofNodes))) return null
        workload = await readableWorkload()
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

function accessDenied({ username }: Caller, question: Question): AppError {
  return new AppError('ACCESS_DENIED', `user ${JSON.stringify(username)} may not ${questionText(question)}`, {
    hint: 'Ask for a role that grants it.',
  })
}

function getQuestion(resource: keyof typeof accessResources, { namespace, name }: ObjectKey): Question {
  return { kind: 'resource', verb: 'get', ...accessResources[resource], namespace, name }
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
