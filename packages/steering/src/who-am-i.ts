import type { KubeClient, ResourcePath } from '@tranche/kube-client'
import type { ReadOptions } from './read-wish-facts.ts'

const selfSubjectReviews = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'selfsubjectreviews',
  namespaced: false,
} as const satisfies ResourcePath

/**
 * Asks the API server by which name it knows us, as `kubectl auth whoami` does.
 *
 * @returns the name; empty where the server does not say
 */
export async function whoAmI(client: KubeClient, options: ReadOptions = {}): Promise<string> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: {} }
  const answer = (await client.create(selfSubjectReviews, review, options)) as {
    readonly status?: { readonly userInfo?: { readonly username?: string } }
  }
  return answer.status?.userInfo?.username ?? ''
}
