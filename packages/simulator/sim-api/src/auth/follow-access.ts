import { type ApiMeta, type ApiObject, type ResourceId, resources } from '../model/client.ts'
import { selectsLabels } from '../model/label-selector.ts'
import { storeKey } from '../store/bucket.ts'
import type { Change } from '../store/change.ts'
import { freezeDeep, jsonEqual, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import { type Random, randomUuid } from '../model/random.ts'
import type { Store } from '../store/store.ts'
import { rbacGroup } from './authorizer.ts'
import { firstBindings, firstClusterRoles } from './bootstrap-policy.ts'

/** Dependencies of the access controllers. */
export interface AccessObjectsOptions {
  readonly store: Store
  /** Source of uids. */
  readonly names: Random
  /** Creation time in API format. */
  readonly now: () => string
}

/** Creates the default cluster roles and bindings. */
export function createFirstRoles(options: AccessObjectsOptions): void {
  for (const { name, labels = {}, aggregates, rules } of firstClusterRoles)
    create(
      options,
      resources.clusterRoles,
      'ClusterRole',
      { name, labels: { ...labels, ...bootstrapped } },
      {
        ...(aggregates && { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregates]: 'true' } }] } }),
        rules,
      },
    )
  for (const { name, groups } of firstBindings)
    create(
      options,
      resources.clusterRoleBindings,
      'ClusterRoleBinding',
      { name, labels: bootstrapped },
      {
        roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name },
        subjects: groups.map((group) => ({ apiGroup: rbacGroup, kind: 'Group', name: group })),
      },
    )
}

/**
 * Acts as the access controllers of a cluster: creates the service account `default` in each namespace, and aggregates cluster roles.
 *
 * @returns function to call with every change of the store
 */
export function followAccess(options: AccessObjectsOptions): (change: Change) => void {
  return ({ id, type, object }) => {
    if (id.group === '' && id.resource === 'namespaces' && type === 'ADDED') createDefaultAccount(options, object.metadata.name)
    if (id.group === '' && id.resource === 'serviceaccounts' && type === 'DELETED') restoreDefaultAccount(options, object.metadata)
    if (id.group === rbacGroup && id.resource === 'clusterroles') aggregateRules(options.store)
  }
}

const bootstrapped = { 'kubernetes.io/bootstrapping': 'rbac-defaults' }

function createDefaultAccount(options: AccessObjectsOptions, namespace: string): void {
  if (options.store.bucket(resources.serviceAccounts).get(storeKey(namespace, 'default')) === undefined)
    create(options, resources.serviceAccounts, 'ServiceAccount', { name: 'default', namespace }, {})
}

function restoreDefaultAccount(options: AccessObjectsOptions, { name, namespace }: ApiMeta): void {
  const status = objectOrEmpty(options.store.bucket(resources.namespaces).get(namespace ?? '')?.['status'])
  if (name === 'default' && namespace !== undefined && status['phase'] === 'Active') createDefaultAccount(options, namespace)
}

function create(
  { store, names, now }: AccessObjectsOptions,
  id: ResourceId,
  kind: string,
  meta: Pick<ApiMeta, 'name' | 'namespace' | 'labels'>,
  fields: object,
): void {
  const metadata = { ...meta, uid: randomUuid(names), resourceVersion: '', creationTimestamp: now() }
  store.put(id, freezeDeep({ apiVersion: id.group === '' ? 'v1' : `${id.group}/v1`, kind, metadata, ...fields }))
}

/** Writing a role calls this function again, so that roles aggregated from aggregated roles follow. */
function aggregateRules(store: Store): void {
  const { keys, objects } = store.bucket(resources.clusterRoles).current()
  const roles = keys.map((key) => objects.get(key)!)
  for (const role of roles) {
    const rules = aggregatedRules(role, roles)
    if (rules === undefined || jsonEqual(rules, role['rules'])) continue
    store.put(resources.clusterRoles, { ...role, rules })
    return
  }
}

function aggregatedRules(role: ApiObject, roles: readonly ApiObject[]): readonly unknown[] | undefined {
  const { aggregationRule } = role
  if (aggregationRule === undefined) return undefined
  const selectors = listOrEmpty(objectOrEmpty(aggregationRule)['clusterRoleSelectors'])
  const rules: unknown[] = []
  for (const selector of selectors)
    for (const other of roles) {
      if (other.metadata.name === role.metadata.name || !selectsLabels(objectOrEmpty(selector), other.metadata.labels ?? {})) continue
      for (const rule of listOrEmpty(other['rules'])) if (!rules.some((known) => jsonEqual(known, rule))) rules.push(rule)
    }
  return rules
}
