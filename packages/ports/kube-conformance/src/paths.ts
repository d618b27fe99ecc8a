type InNamespace = (namespace: string, name?: string, subresource?: string) => string
type InCluster = (name?: string, subresource?: string) => string

/** Where the resources of the suite are: `pathOf.pods('default', 'web-1', 'status')`. */
export const pathOf = {
  namespaces: inCluster('/api/v1', 'namespaces'),
  nodes: inCluster('/api/v1', 'nodes'),
  pods: inNamespace('/api/v1', 'pods'),
  configMaps: inNamespace('/api/v1', 'configmaps'),
  secrets: inNamespace('/api/v1', 'secrets'),
  serviceAccounts: inNamespace('/api/v1', 'serviceaccounts'),
  resourceQuotas: inNamespace('/api/v1', 'resourcequotas'),
  events: inNamespace('/api/v1', 'events'),
  daemonSets: inNamespace('/apis/apps/v1', 'daemonsets'),
  controllerRevisions: inNamespace('/apis/apps/v1', 'controllerrevisions'),
  leases: inNamespace('/apis/coordination.k8s.io/v1', 'leases'),
  podDisruptionBudgets: inNamespace('/apis/policy/v1', 'poddisruptionbudgets'),
  roles: inNamespace('/apis/rbac.authorization.k8s.io/v1', 'roles'),
  roleBindings: inNamespace('/apis/rbac.authorization.k8s.io/v1', 'rolebindings'),
  clusterRoles: inCluster('/apis/rbac.authorization.k8s.io/v1', 'clusterroles'),
  clusterRoleBindings: inCluster('/apis/rbac.authorization.k8s.io/v1', 'clusterrolebindings'),
  customResourceDefinitions: inCluster('/apis/apiextensions.k8s.io/v1', 'customresourcedefinitions'),
} as const

function inNamespace(prefix: string, plural: string): InNamespace {
  return (namespace, name, subresource) => join([prefix, 'namespaces', namespace, plural, name, subresource])
}

function inCluster(prefix: string, plural: string): InCluster {
  return (name, subresource) => join([prefix, plural, name, subresource])
}

function join(words: readonly (string | undefined)[]): string {
  return words.filter((word) => word !== undefined).join('/')
}
