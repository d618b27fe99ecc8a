import type { Actor } from '../model/client.ts'
import { badRequest, invalidObject } from '../model/errors.ts'
import { invalid } from '../model/field-errors.ts'
import type { StatusCause } from '../model/status-error.ts'
import { isObject, type JsonObject, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import type { Attributes } from './attributes.ts'
import type { Authorizer } from './authorizer.ts'

/** Question whether a user may do something. */
export interface AccessQuestion {
  readonly kind: 'SelfSubjectAccessReview' | 'SubjectAccessReview' | 'LocalSubjectAccessReview'
  readonly spec: JsonObject
  /** User in question; undefined: the one named in the spec. */
  readonly actor: Actor | undefined
  /** Namespace of a LocalSubjectAccessReview's request. */
  readonly namespace: string | undefined
}

/**
 * @returns `status` of an access review
 * @throws {ApiStatusError} 400 for a namespace other than the request's, 422
 */
export function accessReview(authorizer: Pick<Authorizer, 'authorize'>, question: AccessQuestion): object {
  const { spec, kind } = question
  const causes = [...attributesCauses(spec), ...(question.actor === undefined ? subjectCauses(spec) : [])]
  if (causes.length > 0) throw invalidObject({ group: 'authorization.k8s.io', kind }, '', causes)
  if (kind === 'LocalSubjectAccessReview') refuseOtherNamespace(question)
  const decision = authorizer.authorize(question.actor ?? subjectOf(spec), readAttributes(spec))
  return { allowed: decision.allowed, ...(decision.reason !== '' && { reason: decision.reason }) }
}

/**
 * @returns `status` of a SelfSubjectRulesReview: all rules granted in the namespace
 * @throws {ApiStatusError} 400 without a namespace
 */
export function rulesReview(authorizer: Pick<Authorizer, 'rulesFor'>, actor: Actor, spec: JsonObject): object {
  const namespace = spec['namespace']
  if (typeof namespace !== 'string' || namespace === '') throw badRequest('no namespace on request')
  const { rules, errors } = authorizer.rulesFor(actor, namespace)
  const granted = rules.map(({ rule }) => rule)
  return {
    resourceRules: granted
      .filter((rule) => rule.resources.length > 0)
      .map(({ verbs, apiGroups, resources, resourceNames }) => ({
        verbs,
        apiGroups,
        resources,
        ...(resourceNames.length > 0 && { resourceNames }),
      })),
    nonResourceRules: granted
      .filter((rule) => rule.nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: false,
    ...(errors.length > 0 && { evaluationError: errors.join(', ') }),
  }
}

function attributesCauses({ resourceAttributes, nonResourceAttributes }: JsonObject): readonly StatusCause[] {
  if (isObject(resourceAttributes) && isObject(nonResourceAttributes))
    return [invalid('spec.nonResourceAttributes', nonResourceAttributes, 'cannot be specified in combination with resourceAttributes')]
  if (isObject(resourceAttributes) || isObject(nonResourceAttributes)) return []
  return [invalid('spec.resourceAttributes', undefined, 'exactly one of nonResourceAttributes or resourceAttributes must be specified')]
}

function subjectCauses({ user, groups }: JsonObject): readonly StatusCause[] {
  return user || listOrEmpty(groups).length > 0 ? [] : [invalid('spec.user', user ?? '', 'at least one of user or group must be specified')]
}

function refuseOtherNamespace({ spec, namespace, kind }: AccessQuestion): void {
  const attributes = spec['resourceAttributes']
  const asked = String(objectOrEmpty(attributes)['namespace'] ?? '')
  const causes = isObject(attributes) ? [] : [invalid('spec.nonResourceAttributes', {}, 'disallowed on this kind of request')]
  if (causes.length > 0) throw invalidObject({ group: 'authorization.k8s.io', kind }, '', causes)
  if (asked !== namespace) throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`)
}

function subjectOf({ user, uid, groups, extra }: JsonObject): Actor {
  return {
    name: String(user ?? ''),
    groups: listOrEmpty(groups).map(String),
    ...(typeof uid === 'string' && { uid }),
    ...(isObject(extra) && { extra: extra as NonNullable<Actor['extra']> }),
  }
}

function readAttributes({ resourceAttributes, nonResourceAttributes }: JsonObject): Attributes {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '')
  if (!isObject(resourceAttributes)) {
    const { verb, path } = objectOrEmpty(nonResourceAttributes)
    return { kind: 'path', verb: text(verb), path: text(path) }
  }
  const { verb, group, resource, subresource, namespace, name } = resourceAttributes
  return {
    kind: 'resource',
    verb: text(verb),
    group: text(group),
    resource: text(resource),
    subresource: text(subresource),
    namespace: text(namespace),
    name: text(name),
  }
}
