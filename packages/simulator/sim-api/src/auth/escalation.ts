import { type Actor, type ApiObject, type ResourceId, resources } from '../model/client.ts'
import { forbidden, notFound } from '../model/errors.ts'
import type { WriteGuard } from '../model/request.ts'
import { jsonEqual, objectOrEmpty } from '../model/json.ts'
import { mastersGroup } from './attributes.ts'
import { type Authorizer, rbacGroup } from './authorizer.ts'
import { fullAuthority, type PolicyRule, readRules, rulesText, uncoveredRules, wordsText } from './policy-rules.ts'

/**
 * Prevents privilege escalation: a role may carry, and a binding may grant, only rights that the writer has. The verbs `escalate` on roles
 * and `bind` on the role are exceptions.
 *
 * @returns check of the object before it is stored, which throws ApiStatusError 403; undefined when nothing needs a check
 */
export function escalationGuard(authorizer: Authorizer, actor: Actor, id: ResourceId): WriteGuard | undefined {
  if (id.group !== rbacGroup || actor.groups?.includes(mastersGroup) === true) return undefined
  const isRole = id.resource === resources.roles.resource || id.resource === resources.clusterRoles.resource
  return (object, old) => {
    if (old !== undefined && sameGrant(object, old)) return
    if (isRole) refuseRole(authorizer, actor, id, object)
    else refuseBinding(authorizer, actor, id, object)
  }
}

/** Finalizers and owners may always change, so that garbage collection works. */
function sameGrant(object: ApiObject, old: ApiObject): boolean {
  const granted = ({ metadata, ...rest }: ApiObject): object => ({ ...rest, labels: metadata.labels, annotations: metadata.annotations })
  return jsonEqual(granted(object), granted(old))
}

function refuseRole(authorizer: Authorizer, actor: Actor, id: ResourceId, role: ApiObject): void {
  const { name, namespace } = role.metadata
  if (authorizer.authorize(actor, { kind: 'resource', verb: 'escalate', ...id, namespace, name }).allowed) return
  refuseRules({ authorizer, actor, id, object: role }, readRules(role['rules']))
  if (role['aggregationRule'] === undefined || missingRules(authorizer, actor, namespace, fullAuthority).length === 0) return
  throw forbidden(id, name, 'must have cluster-admin privileges to use the aggregationRule')
}

function refuseBinding(authorizer: Authorizer, actor: Actor, id: ResourceId, binding: ApiObject): void {
  const { namespace } = binding.metadata
  const { kind, name } = objectOrEmpty(binding['roleRef'])
  const role = kind === 'ClusterRole' ? resources.clusterRoles : resources.roles
  if (authorizer.authorize(actor, { kind: 'resource', verb: 'bind', ...role, namespace, name: String(name) }).allowed) return
  let rules: readonly PolicyRule[]
  try {
    rules = authorizer.rulesOfRole(binding['roleRef'], namespace)
  } catch {
    throw notFound(role, String(name))
  }
  refuseRules({ authorizer, actor, id, object: binding }, rules)
}

interface Grant {
  readonly authorizer: Authorizer
  readonly actor: Actor
  readonly id: ResourceId
  readonly object: ApiObject
}

function refuseRules({ authorizer, actor, id, object }: Grant, wanted: readonly PolicyRule[]): void {
  const missing = missingRules(authorizer, actor, object.metadata.namespace, wanted)
  if (missing.length === 0) return
  const userText = `user ${JSON.stringify(actor.name)} (groups=${wordsText(actor.groups ?? [])})`
  throw forbidden(
    id,
    object.metadata.name,
    `${userText} is attempting to grant RBAC permissions not currently held:\n${rulesText(missing)}`,
  )
}

function missingRules(
  authorizer: Authorizer,
  actor: Actor,
  namespace: string | undefined,
  wanted: readonly PolicyRule[],
): readonly PolicyRule[] {
  const held = authorizer.rulesFor(actor, namespace).rules.map(({ rule }) => rule)
  return uncoveredRules(held, wanted)
}
