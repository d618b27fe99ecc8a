/**
 * API server client of the simulator's own controllers and kubelets. Requests have the same admission, validation, conflicts, faults and
 * watch delays as over the wire, but are not serialized.
 */

/** Object as the API serves it. Frozen: the store shares it. */
export interface ApiObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ApiMeta
  readonly [field: string]: unknown
}

/** @see meta/v1 ObjectMeta */
export interface ApiMeta {
  readonly name: string
  readonly generateName?: string
  readonly namespace?: string
  readonly uid: string
  readonly resourceVersion: string
  readonly generation?: number
  readonly creationTimestamp: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly ApiOwner[]
  /** Field ownership. Served over HTTP only; objects in process have none. */
  readonly managedFields?: readonly object[]
}

/** @see meta/v1 OwnerReference */
export interface ApiOwner {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** Group and plural of a resource: `{group: 'apps', resource: 'daemonsets'}`; the core group is `''`. */
export interface ResourceId {
  readonly group: string
  readonly resource: string
}

/** Sender of a request. `name` appears in the recording, selects faults and seeds watch delays. */
export interface Actor {
  readonly name: string
  readonly groups?: readonly string[]
  /** User-Agent of the program. Only selects faults. */
  readonly userAgent?: string
  /** Field manager, when it differs from the User-Agent. */
  readonly fieldManager?: string
  readonly uid?: string
  /** Other attributes of the sender, by key. */
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** @see meta/v1 DeleteOptions */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan'
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

/** Event of a watch. */
export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: ApiObject }
  /** All objects that existed at the start of the watch have been delivered. */
  | { readonly type: 'SYNCED' }

/** Objects that a list or watch selects. */
export interface Scope {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

/** A running watch. */
export interface Watching {
  stop(): void
}

/** Resource as discovery describes it. */
export interface DiscoveredResource {
  readonly id: ResourceId
  readonly kind: string
  readonly namespaced: boolean
}

/** Requests of one actor. Every method rejects with `ApiStatusError` when the server would respond with a Status. */
export interface SimClient {
  /** @returns all resources currently served */
  discover(): readonly DiscoveredResource[]
  get(id: ResourceId, name: string, namespace?: string): Promise<ApiObject>
  list(id: ResourceId, scope?: Scope): Promise<{ readonly items: readonly ApiObject[]; readonly resourceVersion: string }>
  /** Creates the object in its `metadata.namespace`. The server fills in its own fields (uid, …). */
  create(id: ResourceId, object: unknown): Promise<ApiObject>
  /** Replaces; a `metadata.resourceVersion` is a precondition. `subresource`: `status`. */
  update(id: ResourceId, object: ApiObject, subresource?: string): Promise<ApiObject>
  /** Merge patch (`body` an object) or JSON Patch (`body` an array). */
  patch(id: ResourceId, name: string, namespace: string | undefined, body: unknown, subresource?: string): Promise<ApiObject>
  /** Strategic merge patch: lists of a built-in kind merge by their merge key. */
  strategicPatch(id: ResourceId, name: string, namespace: string | undefined, body: object, subresource?: string): Promise<ApiObject>
  delete(id: ResourceId, name: string, namespace: string | undefined, options?: DeleteOptions): Promise<void>
  /** POST pods/binding: puts a pod on a node. */
  bind(podName: string, namespace: string, nodeName: string): Promise<void>
  /**
   * Lists, then watches indefinitely: `ADDED` for all existing objects, `SYNCED`, then changes in order of resource version. Each watch has
   * its own seeded FIFO delay. `onEvent` must not throw.
   */
  watch(id: ResourceId, scope: Scope, onEvent: (event: WatchEvent) => void): Watching
}

/** Well-known resources of the simulator. */
export const resources = {
  namespaces: { group: '', resource: 'namespaces' },
  nodes: { group: '', resource: 'nodes' },
  pods: { group: '', resource: 'pods' },
  configMaps: { group: '', resource: 'configmaps' },
  secrets: { group: '', resource: 'secrets' },
  serviceAccounts: { group: '', resource: 'serviceaccounts' },
  events: { group: '', resource: 'events' },
  limitRanges: { group: '', resource: 'limitranges' },
  daemonSets: { group: 'apps', resource: 'daemonsets' },
  controllerRevisions: { group: 'apps', resource: 'controllerrevisions' },
  leases: { group: 'coordination.k8s.io', resource: 'leases' },
  resourceQuotas: { group: '', resource: 'resourcequotas' },
  podDisruptionBudgets: { group: 'policy', resource: 'poddisruptionbudgets' },
  roles: { group: 'rbac.authorization.k8s.io', resource: 'roles' },
  roleBindings: { group: 'rbac.authorization.k8s.io', resource: 'rolebindings' },
  clusterRoles: { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' },
  clusterRoleBindings: { group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' },
  mutatingWebhookConfigurations: { group: 'admissionregistration.k8s.io', resource: 'mutatingwebhookconfigurations' },
  validatingWebhookConfigurations: { group: 'admissionregistration.k8s.io', resource: 'validatingwebhookconfigurations' },
  mutatingAdmissionPolicies: { group: 'admissionregistration.k8s.io', resource: 'mutatingadmissionpolicies' },
  mutatingAdmissionPolicyBindings: { group: 'admissionregistration.k8s.io', resource: 'mutatingadmissionpolicybindings' },
  validatingAdmissionPolicies: { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicies' },
  validatingAdmissionPolicyBindings: { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicybindings' },
  priorityClasses: { group: 'scheduling.k8s.io', resource: 'priorityclasses' },
  customResourceDefinitions: { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
} as const satisfies Record<string, ResourceId>
