import { valueIn } from '@tranche/kube-types'

/** List type for server-side apply: by key fields, or a set of values. */
export type ListType = { readonly keys: readonly string[] } | 'set'

/**
 * @param definition name of the definition that contains the field: `core/v1.PodSpec`
 * @returns list type; undefined for an atomic list
 * @see Kubernetes API reference, `x-kubernetes-list-type` and `x-kubernetes-list-map-keys` of each field
 */
export function listTypeOf(definition: string, field: string): ListType | undefined {
  return valueIn(valueIn(listTypes, definition), field)
}

/** @returns whether a value of this definition is atomic (`x-kubernetes-map-type: atomic`) */
export function isAtomicDefinition(definition: string): boolean {
  return atomicDefinitions.has(definition)
}

/** @returns whether this map is atomic (`x-kubernetes-map-type: atomic`) */
export function isAtomicField(definition: string, field: string): boolean {
  return atomicFields.has(`${definition}.${field}`)
}

const by = (...keys: readonly string[]): ListType => ({ keys })

const container = {
  env: by('name'),
  ports: by('containerPort', 'protocol'),
  volumeDevices: by('devicePath'),
  volumeMounts: by('mountPath'),
}

const listTypes: Readonly<Record<string, Readonly<Record<string, ListType>>>> = {
  'meta/v1.ObjectMeta': { finalizers: 'set', ownerReferences: by('uid') },
  'core/v1.Container': container,
  'core/v1.EphemeralContainer': container,
  'core/v1.ContainerRestartRuleOnExitCodes': { values: 'set' },
  'core/v1.ContainerStatus': { allocatedResourcesStatus: by('name'), volumeMounts: by('mountPath') },
  'core/v1.NamespaceStatus': { conditions: by('type') },
  'core/v1.NodeAllocatableResourceClaimStatus': { containers: 'set' },
  'core/v1.NodeSpec': { podCIDRs: 'set' },
  'core/v1.NodeStatus': { addresses: by('type'), conditions: by('type') },
  'core/v1.PodSpec': {
    containers: by('name'),
    ephemeralContainers: by('name'),
    hostAliases: by('ip'),
    imagePullSecrets: by('name'),
    initContainers: by('name'),
    resourceClaims: by('name'),
    schedulingGates: by('name'),
    topologySpreadConstraints: by('topologyKey', 'whenUnsatisfiable'),
    volumes: by('name'),
  },
  'core/v1.PodStatus': { conditions: by('type'), podIPs: by('ip'), resourceClaimStatuses: by('name') },
  'core/v1.ResourceRequirements': { claims: by('name') },
  'core/v1.ResourceStatus': { resources: by('resourceID') },
  'core/v1.ServiceAccount': { secrets: by('name') },
  'core/v1.ServiceSpec': { ports: by('port', 'protocol') },
  'core/v1.ServiceStatus': { conditions: by('type') },
  'apps/v1.DaemonSetStatus': { conditions: by('type') },
  'apps/v1.DeploymentStatus': { conditions: by('type') },
  'policy/v1.PodDisruptionBudgetStatus': { conditions: by('type') },
  'admissionregistration/v1.MutatingWebhook': { matchConditions: by('name') },
  'admissionregistration/v1.MutatingWebhookConfiguration': { webhooks: by('name') },
  'admissionregistration/v1.MutatingAdmissionPolicySpec': { matchConditions: by('name') },
  'admissionregistration/v1.ValidatingAdmissionPolicyBindingSpec': { validationActions: 'set' },
  'admissionregistration/v1.ValidatingAdmissionPolicySpec': { matchConditions: by('name'), variables: by('name') },
  'admissionregistration/v1.ValidatingAdmissionPolicyStatus': { conditions: by('type') },
  'admissionregistration/v1.ValidatingWebhook': { matchConditions: by('name') },
  'admissionregistration/v1.ValidatingWebhookConfiguration': { webhooks: by('name') },
  'apiextensions/v1.CustomResourceDefinitionStatus': { conditions: by('type') },
  'apiextensions/v1.JSONSchemaProps': { 'x-kubernetes-validations': by('rule') },
}

const atomicDefinitions: ReadonlySet<string> = new Set([
  'admissionregistration/v1.MatchResources',
  'admissionregistration/v1.NamedRuleWithOperations',
  'admissionregistration/v1.ParamKind',
  'admissionregistration/v1.ParamRef',
  'admissionregistration/v1.Variable',
  'core/v1.ConfigMapKeySelector',
  'core/v1.FileKeySelector',
  'core/v1.LocalObjectReference',
  'core/v1.NodeSelector',
  'core/v1.NodeSelectorTerm',
  'core/v1.ObjectFieldSelector',
  'core/v1.ObjectReference',
  'core/v1.ResourceFieldSelector',
  'core/v1.ScopeSelector',
  'core/v1.SecretKeySelector',
  'core/v1.TypedLocalObjectReference',
  'meta/v1.LabelSelector',
  'meta/v1.OwnerReference',
  'networking/v1.ServiceBackendPort',
  'networking/v1.TypedLocalObjectReference',
  'rbac/v1.RoleRef',
  'rbac/v1.Subject',
])

const atomicFields: ReadonlySet<string> = new Set(['core/v1.PodSpec.nodeSelector', 'core/v1.ServiceSpec.selector'])
