import type { AccessControl } from '../auth/access.ts'
import { issueToken } from '../auth/token-request.ts'
import { accessReview, rulesReview } from '../auth/access-reviews.ts'
import { apiAudience } from '../auth/service-account-tokens.ts'
import type { Actor } from '../model/client.ts'
import { badRequest, methodNotAllowed } from '../model/errors.ts'
import { isObject, type JsonObject, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import { readRequestBody } from './wire/request-body.ts'
import { reviewResources } from './documents/review-resources.ts'
import type { ResourceRoute } from './wire/route.ts'

/** Review or token request. */
export interface ReviewCall {
  readonly access: AccessControl
  /** Identity of a bearer token, beside service accounts; undefined when unknown. */
  readonly ownerOf: (token: string) => Actor | undefined
  readonly actor: Actor
  readonly route: ResourceRoute
  readonly method: string
  readonly body: string | undefined
  readonly contentType: string
  readonly nowMs: () => number
}

/**
 * Handles reviews, and token requests of service accounts. The sender is already authorized.
 *
 * @returns undefined when the request is not a review
 * @throws {ApiStatusError} 400, 404, 405, 422
 */
export function answerReview(call: ReviewCall): object | undefined {
  const { route, method } = call
  const isToken = route.group === '' && route.resource === 'serviceaccounts' && route.subresource === 'token'
  const review = reviewResources.find(({ group, plural }) => group === route.group && plural === route.resource)
  if (!(isToken || (review !== undefined && route.version === 'v1' && route.name === undefined))) return undefined
  if (method !== 'POST') throw methodNotAllowed()
  const body = readRequestBody(call.body, call.contentType).value
  if (!isObject(body)) throw badRequest('the object provided is unrecognized (must be an object)')
  if (isToken) return issueToken(call, { name: route.name ?? '', namespace: route.namespace ?? '' }, body)
  return answerOf(call, review!.kind, body)
}

function answerOf({ access, ownerOf, actor, route }: ReviewCall, kind: (typeof reviewResources)[number]['kind'], body: JsonObject): object {
  const spec = objectOrEmpty(body['spec'])
  const head = { kind, apiVersion: `${route.group}/v1`, metadata: objectOrEmpty(body['metadata']) }
  switch (kind) {
    case 'SelfSubjectReview':
      return { ...head, status: { userInfo: userInfoOf(actor) } }
    case 'TokenReview':
      return { ...head, spec, status: tokenStatus({ access, ownerOf }, spec) }
    case 'SelfSubjectRulesReview':
      return { ...head, spec, status: rulesReview(access, actor, spec) }
    case 'SelfSubjectAccessReview':
      return { ...head, spec, status: accessReview(access, { kind, spec, actor, namespace: undefined }) }
    case 'SubjectAccessReview':
    case 'LocalSubjectAccessReview':
      return { ...head, spec, status: accessReview(access, { kind, spec, actor: undefined, namespace: route.namespace }) }
  }
}

function tokenStatus({ access, ownerOf }: Pick<ReviewCall, 'access' | 'ownerOf'>, spec: JsonObject): object {
  const asked = listOrEmpty(spec['audiences']).map(String)
  const token = String(spec['token'] ?? '')
  const audiences = asked.length === 0 ? [apiAudience] : asked
  const owner = audiences.includes(apiAudience) ? ownerOf(token) : undefined
  if (owner !== undefined) return { authenticated: true, user: userInfoOf(owner), audiences: [apiAudience] }
  const read = access.tokens.read(token, audiences)
  if (read === undefined) return { user: {}, error: 'invalid bearer token' }
  return { authenticated: true, user: userInfoOf(read.actor), audiences: read.audiences }
}

/** @see authentication/v1 UserInfo */
function userInfoOf({ name, uid, groups, extra }: Actor): object {
  return { username: name, ...(uid && { uid }), ...(groups && { groups }), ...(extra && { extra }) }
}
