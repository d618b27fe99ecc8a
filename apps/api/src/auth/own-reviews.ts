import { targetOf } from '@tranche/actions'
import { actionTypes } from '@tranche/api-schema'
import type { KubeClient, ResourcePath } from '@tranche/kube-client'
import type { ObjectKey } from '@tranche/kube-types'
import { accessResources } from './access.ts'
import type { Caller } from './caller.ts'
import { type AccessStatus, attributesOf, callerOfUser, type Question, type Reviews, sendReview, type UserInfo } from './reviews.ts'

const selfReviews: ResourcePath = { group: 'authentication.k8s.io', version: 'v1', plural: 'selfsubjectreviews', namespaced: false }
const accessReviews: ResourcePath = { group: 'authorization.k8s.io', version: 'v1', plural: 'selfsubjectaccessreviews', namespaced: false }

/**
 * Authorizes the one user whose credentials the client has, by SelfSubjectAccessReview, which every user may create. Accepts no bearer token.
 *
 * Actions are written with these credentials, so the right to write them decides, not their own verbs: `patch` on the Rollout, and for `undo`
 * and `restart` on its DaemonSet.
 *
 * @param workloadOf returns the DaemonSet of a Rollout; undefined if it is unknown
 */
export function createOwnReviews(client: KubeClient, workloadOf: (rollout: ObjectKey) => string | undefined): Reviews {
  function rightFor(question: Question): Question {
    if (question.kind !== 'resource' || question.resource !== accessResources.rollouts.resource) return question
    const action = actionTypes.find((type) => type === question.verb)
    if (action === undefined) return question
    const workload = targetOf(action) === 'DaemonSet' ? workloadOf(question) : undefined
    if (workload === undefined) return { ...question, verb: 'patch' }
    return { ...question, ...accessResources.daemonsets, verb: 'patch', name: workload }
  }
  return {
    authenticate: async () => null,
    rightFor,
    async isAllowed(_caller, question, signal) {
      const spec = attributesOf(rightFor(question))
      const status = await sendReview<AccessStatus>(client, { resource: accessReviews, kind: 'SelfSubjectAccessReview', spec }, signal)
      return status?.allowed === true && status.denied !== true
    },
  }
}

/**
 * Reads the identity of the client's own credentials, as `kubectl auth whoami` does. Rejects as {@link KubeClient} does.
 *
 * @returns null if the API server does not say, which no release since 1.28 does
 */
export async function readOwnUser(client: KubeClient, signal?: AbortSignal): Promise<Caller | null> {
  const review = { resource: selfReviews, kind: 'SelfSubjectReview' }
  const status = await sendReview<{ readonly userInfo?: UserInfo }>(client, review, signal)
  return status?.userInfo === undefined ? null : callerOfUser(status.userInfo)
}
