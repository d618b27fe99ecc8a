import type { PolicyRule } from './policy-rules.ts'

/** Cluster role that exists from the start. */
export interface FirstClusterRole {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  /** Aggregation label value by which other roles are copied into this one. */
  readonly aggregates?: string
  readonly rules: readonly Partial<PolicyRule>[]
}

/** Binding of a cluster role to one group that exists from the start. */
export interface FirstBinding {
  readonly name: string
  readonly groups: readonly string[]
}

const aggregateTo = (role: string): Readonly<Record<string, string>> => ({ [`${AGGREGATE}${role}`]: 'true' })
const AGGREGATE = 'rbac.authorization.k8s.io/aggregate-to-'

const read = ['get', 'list', 'watch']
const change = ['create', 'delete', 'deletecollection', 'patch', 'update']

/** @returns a rule; groups, resources and verbs are space-separated words, with `core` for the core group */
function rule(groups: string, resources: string, verbs: readonly string[]): Partial<PolicyRule> {
  const apiGroups = groups.split(' ').map((group) => (group === 'core' ? '' : group))
  return { apiGroups, resources: resources.split(' '), verbs }
}

const paths = (text: string): Partial<PolicyRule> => ({ nonResourceURLs: text.split(' '), verbs: ['get'] })

/** Default cluster roles that matter for the resources of the simulator. */
export const firstClusterRoles: readonly FirstClusterRole[] = [
  { name: 'cluster-admin', rules: [rule('*', '*', ['*']), { nonResourceURLs: ['*'], verbs: ['*'] }] },
  { name: 'admin', aggregates: `${AGGREGATE}admin`, rules: [] },
  { name: 'edit', aggregates: `${AGGREGATE}edit`, labels: aggregateTo('admin'), rules: [] },
  { name: 'view', aggregates: `${AGGREGATE}view`, labels: aggregateTo('edit'), rules: [] },
  {
    name: 'system:aggregate-to-admin',
    labels: aggregateTo('admin'),
    rules: [
      rule('authorization.k8s.io', 'localsubjectaccessreviews', ['create']),
      rule('rbac.authorization.k8s.io', 'rolebindings roles', [...change, ...read]),
    ],
  },
  {
    name: 'system:aggregate-to-edit',
    labels: aggregateTo('edit'),
    rules: [
      rule('core', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy', read),
      rule('core', 'serviceaccounts', ['impersonate']),
      rule('core', 'pods pods/attach pods/exec pods/portforward pods/proxy', change),
      rule('core', 'pods/eviction', ['create']),
      rule('core', 'configmaps persistentvolumeclaims secrets serviceaccounts services services/proxy', change),
      rule('core', 'serviceaccounts/token', ['create']),
      rule('core events.k8s.io', 'events', change),
      rule('apps', 'daemonsets deployments deployments/rollback deployments/scale', change),
      rule('apps', 'replicasets replicasets/scale statefulsets statefulsets/scale', change),
      rule('batch', 'cronjobs jobs', change),
      rule('policy', 'poddisruptionbudgets', change),
      rule('networking.k8s.io', 'ingresses networkpolicies', change),
      rule('coordination.k8s.io', 'leases', [...change, ...read]),
    ],
  },
  {
    name: 'system:aggregate-to-view',
    labels: aggregateTo('view'),
    rules: [
      rule('core', 'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods', read),
      rule('core', 'serviceaccounts services services/status', read),
      rule('core', 'bindings limitranges namespaces/status pods/log pods/status resourcequotas resourcequotas/status', read),
      rule('core', 'namespaces', read),
      rule('core events.k8s.io', 'events', read),
      rule('discovery.k8s.io', 'endpointslices', read),
      rule('apps', 'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status', read),
      rule('apps', 'replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status', read),
      rule('batch', 'cronjobs cronjobs/status jobs jobs/status', read),
      rule('policy', 'poddisruptionbudgets poddisruptionbudgets/status', read),
      rule('networking.k8s.io', 'ingresses ingresses/status networkpolicies', read),
    ],
  },
  {
    name: 'system:auth-delegator',
    rules: [rule('authentication.k8s.io', 'tokenreviews', ['create']), rule('authorization.k8s.io', 'subjectaccessreviews', ['create'])],
  },
  {
    name: 'system:basic-user',
    rules: [
      rule('authorization.k8s.io', 'selfsubjectaccessreviews selfsubjectrulesreviews', ['create']),
      rule('authentication.k8s.io', 'selfsubjectreviews', ['create']),
    ],
  },
  {
    name: 'system:discovery',
    rules: [paths('/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/')],
  },
  {
    name: 'system:monitoring',
    rules: [paths('/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*'), rule('core', 'nodes/metrics', ['get'])],
  },
  { name: 'system:public-info-viewer', rules: [paths('/healthz /livez /readyz /version /version/')] },
]

/** Groups that hold these roles from the start; each binding has the name of its role. */
export const firstBindings: readonly FirstBinding[] = [
  { name: 'cluster-admin', groups: ['system:masters'] },
  { name: 'system:basic-user', groups: ['system:authenticated'] },
  { name: 'system:discovery', groups: ['system:authenticated'] },
  { name: 'system:monitoring', groups: ['system:monitoring'] },
  { name: 'system:public-info-viewer', groups: ['system:authenticated', 'system:unauthenticated'] },
]
