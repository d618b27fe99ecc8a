import type { KubeClient, ResourcePath } from '@tranche/kube-client'
import type { Caller } from './caller.ts'

/** Attributes of a SubjectAccessReview: a resource or a non-resource path. */
export type Question =
  | {
      readonly kind: 'resource'
      readonly verb: string
      readonly group: string
      readonly resource: string
      /** Empty: all namespaces. */
      readonly namespace: string
      /** Empty: any object. */
      readonly name: string
    }
  | { readonly kind: 'path'; readonly verb: string; readonly path: string }

/** Authentication and authorization by the API server, without a cache. */
export interface Reviews {
  /** @returns the user of the token; null if the token is not valid */
  authenticate(token: string, signal?: AbortSignal): Promise<Caller | null>
  isAllowed(caller: Caller, question: Question, signal?: AbortSignal): Promise<boolean>
  /** @returns the right that decides a question, to name it to a caller who lacks it */
  rightFor(question: Question): Question
}

const tokenReviews: ResourcePath = { group: 'authentication.k8s.io', version: 'v1', plural: 'tokenreviews', namespaced: false }
const accessReviews: ResourcePath = { group: 'authorization.k8s.io', version: 'v1', plural: 'subjectaccessreviews', namespaced: false }

/** Deadline of a review, in milliseconds; a client waits for it. */
const REVIEW_DEADLINE_MS = 5_000

/**
 * Authenticates by TokenReview and authorizes by SubjectAccessReview. Rejects as {@link KubeClient} does; a failed review never
 * allows anything.
 *
 * @param audiences accepted audiences of a token; empty: those of the API server
 */
export function createReviews(client: KubeClient, audiences: readonly string[]): Reviews {
  return {
    async authenticate(token, signal) {
      const spec = { token, ...(audiences.length > 0 && { audiences }) }
      const status = await sendReview<TokenStatus>(client, { resource: tokenReviews, kind: 'TokenReview', spec }, signal)
      if (status?.authenticated !== true || status.user === undefined) return null
      // An authenticator that does not know audiences omits them: then ours were not checked.
      if (audiences.length > 0 && !audiences.some((audience) => status.audiences?.includes(audience))) return null
      return callerOfUser(status.user)
    },
    rightFor: (question) => question,
    async isAllowed({ username, uid, groups, extra }, question, signal) {
      const spec = { user: username, groups, ...(uid && { uid }), ...(extra && { extra }), ...attributesOf(question) }
      const status = await sendReview<AccessStatus>(client, { resource: accessReviews, kind: 'SubjectAccessReview', spec }, signal)
      return status?.allowed === true && status.denied !== true
    },
  }
}

/** Review to send. */
interface Review {
  readonly resource: ResourcePath
  readonly kind: string
  readonly spec?: object
}

/** @returns the status of the review */
export async function sendReview<S>(client: KubeClient, { resource, kind, spec }: Review, signal?: AbortSignal): Promise<S | undefined> {
  const object = { apiVersion: `${resource.group}/v1`, kind, metadata: {}, ...(spec && { spec }) }
  const answer = (await client.create(resource, object, { signal, deadlineMs: REVIEW_DEADLINE_MS })) as { status?: S }
  return answer.status
}

/** @see authentication/v1 UserInfo */
export interface UserInfo {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Caller['extra']
}

/** @returns null for a user without a name */
export function callerOfUser({ username, uid, groups = [], extra }: UserInfo): Caller | null {
  if (!username) return null
  return { username, groups, ...(uid && { uid }), ...(extra && { extra }) }
}

interface TokenStatus {
  readonly authenticated?: boolean
  readonly user?: UserInfo
  readonly audiences?: readonly string[]
}

/** @see authorization/v1 SubjectAccessReviewStatus */
export interface AccessStatus {
  readonly allowed?: boolean
  readonly denied?: boolean
}

/** @returns the question as a part of the spec of an access review */
export function attributesOf(question: Question): object {
  if (question.kind === 'path') return { nonResourceAttributes: { verb: question.verb, path: question.path } }
  const { verb, group, resource, namespace, name } = question
  return { resourceAttributes: { verb, group, resource, ...(namespace && { namespace }), ...(name && { name }) } }
}
