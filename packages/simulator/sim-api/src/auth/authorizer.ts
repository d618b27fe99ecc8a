import { type Actor, type ApiObject, type ResourceId, resources } from '../model/client.ts'
import { storeKey } from '../store/bucket.ts'
import type { Change } from '../store/change.ts'
import { listOrEmpty, objectOrEmpty } from '../model/json.ts'
import type { Store } from '../store/store.ts'
import { type Attributes, type Decision, mastersGroup } from './attributes.ts'
import { type PolicyRule, readRules, ruleAllows } from './policy-rules.ts'

/** Decides by the current RBAC objects. */
export interface Authorizer {
  authorize(actor: Actor, attributes: Attributes): Decision
  /** All rights of the actor in a namespace (absent: at the cluster scope), and errors for what could not be read. */
  rulesFor(actor: Actor, namespace: string | undefined): GrantedRules
  /** @returns rules of the role that a binding names; throws when the role does not exist */
  rulesOfRole(roleRef: unknown, namespace: string | undefined): readonly PolicyRule[]
}

/** Rules granted by bindings, and errors for those that could not be resolved. */
export interface GrantedRules {
  readonly rules: readonly { readonly rule: PolicyRule; readonly source: string }[]
  readonly errors: readonly string[]
}

/** The group of roles and bindings. */
export const rbacGroup = 'rbac.authorization.k8s.io'

/** Authorizer over a store. `follow` must be called with every change, so that cached rules are collected again. */
export function createAuthorizer(store: Store): Authorizer & { readonly follow: (change: Change) => void } {
  const collected = new Map<string, GrantedRules>()
  function rulesFor(actor: Actor, namespace: string | undefined): GrantedRules {
    const key = JSON.stringify([actor.name, actor.groups ?? [], namespace ?? ''])
    let granted = collected.get(key)
    if (granted === undefined) {
      if (collected.size >= MOST_COLLECTED) collected.clear()
      collected.set(key, (granted = collectRules(store, actor, namespace)))
    }
    return granted
  }
  return {
    rulesFor,
    rulesOfRole: (roleRef, namespace) => rulesOfRole(store, roleRef, namespace),
    authorize(actor, attributes) {
      if (actor.groups?.includes(mastersGroup) === true) return { allowed: true, reason: '' }
      const namespace = attributes.kind === 'resource' ? attributes.namespace : undefined
      const { rules, errors } = rulesFor(actor, namespace || undefined)
      const found = rules.find(({ rule }) => ruleAllows(rule, attributes))
      if (found !== undefined) return { allowed: true, reason: `RBAC: allowed by ${found.source}` }
      return { allowed: false, reason: errors.length === 0 ? '' : `RBAC: ${errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`}` }
    },
    follow(change) {
      if (change.id.group === rbacGroup) collected.clear()
    },
  }
}

const MOST_COLLECTED = 10_000

function collectRules(store: Store, actor: Actor, namespace: string | undefined): GrantedRules {
  const bindings = objectsOf(store, resources.clusterRoleBindings)
  if (namespace !== undefined) {
    const own = objectsOf(store, resources.roleBindings).filter((binding) => binding.metadata.namespace === namespace)
    bindings.push(...own)
  }
  const rules: { rule: PolicyRule; source: string }[] = []
  const errors: string[] = []
  for (const binding of bindings) {
    const subject = listOrEmpty(binding['subjects']).find((candidate) => isSubject(candidate, actor, binding.metadata.namespace))
    if (subject === undefined) continue
    try {
      const source = sourceOf(binding, subject)
      for (const rule of rulesOfRole(store, binding['roleRef'], binding.metadata.namespace)) rules.push({ rule, source })
    } catch (error) {
      errors.push((error as Error).message)
    }
  }
  return { rules, errors }
}

function rulesOfRole(store: Store, roleRef: unknown, namespace: string | undefined): readonly PolicyRule[] {
  const { kind, name } = objectOrEmpty(roleRef)
  const isCluster = kind === 'ClusterRole'
  const key = storeKey(isCluster ? undefined : namespace, String(name))
  const role = store.bucket(isCluster ? resources.clusterRoles : resources.roles).get(key)
  if (role === undefined) throw new Error(`${isCluster ? 'clusterrole' : 'role'}.${rbacGroup} ${JSON.stringify(name)} not found`)
  return readRules(role['rules'])
}

function isSubject(subject: unknown, actor: Actor, bindingNamespace: string | undefined): boolean {
  const { kind, name, namespace } = objectOrEmpty(subject)
  switch (kind) {
    case 'User':
      return actor.name === name
    case 'Group':
      return actor.groups?.includes(String(name)) === true
    case 'ServiceAccount':
      return actor.name === `system:serviceaccount:${String(namespace || bindingNamespace)}:${String(name)}`
    default:
      return false
  }
}

function sourceOf(binding: ApiObject, subject: unknown): string {
  const { kind, name, namespace } = objectOrEmpty(subject)
  const own = binding.metadata.namespace
  const roleRef = objectOrEmpty(binding['roleRef'])
  const subjectName = kind === 'ServiceAccount' ? `${String(name)}/${String(namespace || own)}` : String(name)
  const what = own === undefined ? binding.metadata.name : `${binding.metadata.name}/${own}`
  const to = `${String(kind)} ${JSON.stringify(subjectName)}`
  return `${binding.kind} ${JSON.stringify(what)} of ${String(roleRef['kind'])} ${JSON.stringify(roleRef['name'])} to ${to}`
}

function objectsOf(store: Store, id: ResourceId): ApiObject[] {
  const { keys, objects } = store.bucket(id).current()
  return keys.map((key) => objects.get(key)!)
}
