import type { ObjectKey } from '@tranche/kube-types'

/** API location of a kind: `{group: 'apps', version: 'v1', plural: 'daemonsets', namespaced: true}`. */
export interface ResourcePath {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly namespaced: boolean
}

/** Resources that Tranche's programs read and write. */
export const resourcePaths = {
  namespaces: { group: '', version: 'v1', plural: 'namespaces', namespaced: false },
  nodes: { group: '', version: 'v1', plural: 'nodes', namespaced: false },
  pods: { group: '', version: 'v1', plural: 'pods', namespaced: true },
  configMaps: { group: '', version: 'v1', plural: 'configmaps', namespaced: true },
  persistentVolumeClaims: { group: '', version: 'v1', plural: 'persistentvolumeclaims', namespaced: true },
  persistentVolumes: { group: '', version: 'v1', plural: 'persistentvolumes', namespaced: false },
  secrets: { group: '', version: 'v1', plural: 'secrets', namespaced: true },
  /** core/v1 Event, which `kubectl describe` shows. */
  events: { group: '', version: 'v1', plural: 'events', namespaced: true },
  daemonSets: { group: 'apps', version: 'v1', plural: 'daemonsets', namespaced: true },
  controllerRevisions: { group: 'apps', version: 'v1', plural: 'controllerrevisions', namespaced: true },
  priorityClasses: { group: 'scheduling.k8s.io', version: 'v1', plural: 'priorityclasses', namespaced: false },
  leases: { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', namespaced: true },
  /** Served from Kubernetes 1.36 on. So are their bindings. */
  mutatingAdmissionPolicies: {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    plural: 'mutatingadmissionpolicies',
    namespaced: false,
  },
  mutatingAdmissionPolicyBindings: {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    plural: 'mutatingadmissionpolicybindings',
    namespaced: false,
  },
  mutatingWebhookConfigurations: {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    plural: 'mutatingwebhookconfigurations',
    namespaced: false,
  },
  customResourceDefinitions: { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions', namespaced: false },
  rollouts: { group: 'rollouts.kruise.io', version: 'v1beta1', plural: 'rollouts', namespaced: true },
  releasePolicies: { group: 'tranche.dev', version: 'v1alpha1', plural: 'releasepolicies', namespaced: true },
  batchReleases: { group: 'rollouts.kruise.io', version: 'v1beta1', plural: 'batchreleases', namespaced: true },
} as const satisfies Record<string, ResourcePath>

/**
 * Whether objects of this resource may nest as deep as the API server parses JSON. Its own types have fields for every level; only `data`
 * of a ControllerRevision takes any value. Schemas of custom resources may allow unknown fields.
 */
export function mayNestDeep({ group, plural }: ResourcePath): boolean {
  return plural === resourcePaths.controllerRevisions.plural || (group.includes('.') && !group.endsWith('.k8s.io'))
}

/** Query parameters; an undefined value omits its parameter. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** @returns the URL path of all objects of a resource, limited to `namespace` if given and the resource is namespaced */
export function collectionPath(resource: ResourcePath, namespace?: string): string {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`
  const within = resource.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${root}${within}/${resource.plural}`
}

/** @returns the URL path of an object, or of its subresource (`status`) */
export function objectPath(resource: ResourcePath, key: ObjectKey, subresource?: string): string {
  const path = `${collectionPath(resource, key.namespace)}/${encodeURIComponent(key.name)}`
  return subresource === undefined ? path : `${path}/${subresource}`
}

/** @returns `path` with the parameters that have a value */
export function withQuery(path: string, query: Query): string {
  const text = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&')
  return text === '' ? path : `${path}?${text}`
}
