import type { Actor } from '../client.ts'
import { isRecord } from '../schema/json-schema.ts'
import type { ResourceRoute } from './route.ts'

/**
 * Answers what a client may ask about itself: who it is, and whether it may do something (always).
 *
 * @returns undefined when the request is about something else
 */
export function answerReview(route: ResourceRoute, actor: Actor, body: string | undefined): object | undefined {
  const path = `${route.group}/${route.version}/${route.resource}`
  if (path === 'authentication.k8s.io/v1/selfsubjectreviews') return selfSubjectReview(actor)
  if (path === 'authorization.k8s.io/v1/selfsubjectaccessreviews') return selfSubjectAccessReview(body)
  return undefined
}

function selfSubjectReview(actor: Actor): object {
  const userInfo = { username: actor.name, groups: [...(actor.groups ?? []), 'system:authenticated'] }
  return { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1', metadata: {}, status: { userInfo } }
}

function selfSubjectAccessReview(body: string | undefined): object {
  return {
    kind: 'SelfSubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: {},
    spec: specOf(body),
    status: { allowed: true },
  }
}

function specOf(body: string | undefined): unknown {
  try {
    const review: unknown = JSON.parse(body ?? '{}')
    return isRecord(review) ? (review['spec'] ?? {}) : {}
  } catch {
    return {}
  }
}
