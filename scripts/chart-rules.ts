import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'

const PAGE = 'docs/operations/permissions.md'

/** Scope of a rule: a ClusterRole, or a Role in one namespace. */
type RoleKind = 'ClusterRole' | 'Role'

/** RBAC rules of one role. */
export type Rules = readonly Readonly<Record<string, readonly string[]>>[]

/** Rules of a role, by scope. */
export interface ScopedRules {
  readonly Cluster: Rules
  readonly Namespaced: Rules
}

const PROCESS_ROLES = ['tranche-controller', 'tranche-executor', 'tranche-api', 'tranche-test']

interface RoleOfPage {
  readonly kind: RoleKind
  readonly metadata: { readonly name: string }
  readonly rules: Rules
}

/**
 * Rules of docs/operations/permissions.md, by kind and name: `{ClusterRole: {'tranche-controller': […]}, Role: …}`. The chart grants exactly
 * these rules, with the names of its release.
 *
 * @throws {Error} if the page has two roles of the same kind and name
 */
export function chartRules(): Readonly<Record<RoleKind, Readonly<Record<string, Rules>>>> {
  const rules: Record<RoleKind, Record<string, Rules>> = { ClusterRole: {}, Role: {} }
  for (const { kind, metadata, rules: own } of rolesOfPage()) {
    if (rules[kind][metadata.name] !== undefined) throw new Error(`${PAGE} has two of ${kind} ${metadata.name}`)
    rules[kind][metadata.name] = own
  }
  return rules
}

/**
 * The same rules for processes that are limited to some namespaces: a Role for each of these, and a ClusterRole for cluster-scoped objects
 * and for objects read in all namespaces.
 */
export function scopedRoles(): Readonly<Record<string, ScopedRules>> {
  const { ClusterRole } = chartRules()
  return Object.fromEntries(PROCESS_ROLES.map((name) => [name, scopedRules(ClusterRole[name] ?? [])]))
}

/** Permissions that `tranche doctor` checks, by program, and for the leader by its options. */
export function processRules(): object {
  const { ClusterRole, Role } = chartRules()
  const programs = Object.entries(scopedRoles()).flatMap(([name, rules]) =>
    name === 'tranche-test' ? [] : [[name.replace('tranche-', ''), rules]],
  )
  return {
    ...Object.fromEntries(programs),
    lease: Role['tranche-controller'],
    groups: Role['tranche-groups'],
    admission: ClusterRole['tranche-admission'],
    config: ClusterRole['tranche-config'],
    room: ClusterRole['tranche-room'],
    prePull: ClusterRole['tranche-pre-pull'],
    drain: ClusterRole['tranche-drain'],
    drainConditions: ClusterRole['tranche-drain-conditions'],
    nodeLocks: Role['tranche-node-locks'],
    downtime: Role['tranche-downtime'],
    configPin: ClusterRole['tranche-config-pin'],
    podPolicy: ClusterRole['tranche-pod-policy'],
    secretPin: ClusterRole['tranche-secret-pin'],
    webhookConfigurations: ClusterRole['tranche-webhook'],
    webhookSecret: Role['tranche-webhook'],
  }
}

function scopedRules(rules: Rules): ScopedRules {
  const part = (isWanted: (resource: string) => boolean): Rules =>
    rules.flatMap((rule) => {
      const resources = (rule['resources'] ?? []).filter((resource) => isWanted(`${rule['apiGroups']?.[0]}/${resource}`))
      return resources.length === 0 ? [] : [{ ...rule, resources }]
    })
  return { Cluster: part((resource) => isOfCluster(resource)), Namespaced: part((resource) => !isOfCluster(resource)) }
}

/** The Lease of another controller may be in any namespace. */
function isOfCluster(resource: string): boolean {
  return /^(\/(nodes|namespaces)|(authentication|authorization|scheduling|admissionregistration|apiextensions)\.k8s\.io\/.*|coordination\.k8s\.io\/leases)$/.test(
    resource,
  )
}

function rolesOfPage(): readonly RoleOfPage[] {
  const blocks = readFileSync(PAGE, 'utf8').matchAll(/^```yaml\n([\s\S]*?)^```/gm)
  return [...blocks].flatMap(([, text = '']) => parseAllDocuments(text).map((document) => document.toJS() as RoleOfPage))
}
