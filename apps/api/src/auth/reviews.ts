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
  async function review<S>(resource: ResourcePath, kind: string, spec: object, signal?: AbortSignal): Promise<S | undefined> {
    const object = { apiVersion: `${resource.group}/v1`, kind, metadata: {}, spec }
    const answer = (await client.create(resource, object, { signal, deadlineMs: REVIEW_DEADLINE_MS })) as { status?: S }
    return answer.status
  }
  return {
    async authenticate(token, signal) {
      const spec = { token, ...(audiences.length > 0 && { audiences }) }
      const status = await review<TokenStatus>(tokenReviews, 'TokenReview', spec, signal)
      if (status?.authenticated !== true || !status.user?.username) return null
      // An authenticator that does not know audiences omits them: then ours were not checked.
      if (audiences.length > 0 && !audiences.some((audience) => status.audiences?.includes(audience))) return null
      const { username, uid, groups = [], extra } = status.user
      return { username, groups, ...(uid && { uid }), ...(extra && { extra }) }
    },
    async isAllowed({ username, uid, groups, extra }, question, signal) {
      const spec = { user: username, groups, ...(uid && { uid }), ...(extra && { extra }), ...attributesOf(question) }
      const status = await review<AccessStatus>(accessReviews, 'SubjectAccessReview', spec, signal)
      return status?.allowed === true && status.denied !== true
    },
  }
}

interface TokenStatus {
  readonly authenticated?: boolean
  readonly user?: {
    readonly username?: string
    readonly uid?: string
    readonly groups?: readonly string[]
    readonly extra?: Caller['extra']
  }
  readonly audiences?: readonly string[]
}

interface AccessStatus {
  readonly allowed?: boolean
  readonly denied?: boolean
}

function attributesOf(question: Question): object {
  if (question.kind === 'path') return { nonResourceAttributes: { verb: question.verb, path: question.path } }
  const { verb, group, resource, namespace, name } = question
  return { resourceAttributes: { verb, group, resource, ...(namespace && { namespace }), ...(name && { name }) } }
}
