import { isForbidden, isNotFound, type KubeClient, type ResourcePath } from '@tranche/kube-client'
import type { ReadOptions } from './read-action-facts.ts'

const selfSubjectReviews = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'selfsubjectreviews',
  namespaced: false,
} as const satisfies ResourcePath

const UNKNOWN = 'unknown'

/** @see authentication/v1 SelfSubjectReview */
interface Reviewed {
  readonly status?: { readonly userInfo?: { readonly username?: string } }
}

/**
 * Reads the user name by which the API server knows this client, as `kubectl auth whoami` does.
 *
 * @returns the name; `unknown` if the server does not say, or denies access
 */
export async function readOwnUsername(client: KubeClient, options: ReadOptions = {}): Promise<string> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: {} }
  try {
    const answer = (await client.create(selfSubjectReviews, review, options)) as Reviewed
    return answer.status?.userInfo?.username ?? UNKNOWN
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return UNKNOWN
    throw error
  }
}
