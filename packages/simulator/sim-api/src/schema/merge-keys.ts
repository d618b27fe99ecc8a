import { valueIn } from '@tranche/kube-types'

/** How strategic merge patch treats a list field. */
export interface ListMerge {
  /** Field that identifies an element; absent for lists of plain values. */
  readonly key?: string
  readonly strategies: readonly ('merge' | 'retainKeys')[]
}

/**
 * @param definition name of the definition that contains the field: `core/v1.PodSpec`
 * @returns patch strategy of the list; undefined when a patch replaces it
 * @see Kubernetes API reference, "patch strategy" and "patch merge key" of each field
 */
export function listMergeOf(definition: string, field: string): ListMerge | undefined {
  return valueIn(valueIn(listMerges, definition), field)
}

const merge = (key: string): ListMerge => ({ key, strategies: ['merge'] })
const mergeRetaining = (key: string): ListMerge => ({ key, strategies: ['merge', 'retainKeys'] })
const mergeValues: ListMerge = { strategies: ['merge'] }

const container = {
  env: merge('name'),
  ports: merge('containerPort'),
  volumeDevices: merge('devicePath'),
  volumeMounts: merge('mountPath'),
}

const listMerges: Readonly<Record<string, Readonly<Record<string, ListMerge>>>> = {
  'meta/v1.ObjectMeta': { finalizers: mergeValues, ownerReferences: merge('uid') },
  'core/v1.Container': container,
  'core/v1.EphemeralContainer': container,
  'core/v1.ContainerStatus': { volumeMounts: merge('mountPath') },
  'core/v1.PodSpec': {
    containers: merge('name'),
    ephemeralContainers: merge('name'),
    hostAliases: merge('ip'),
    imagePullSecrets: merge('name'),
    initContainers: merge('name'),
    resourceClaims: mergeRetaining('name'),
    schedulingGates: merge('name'),
    topologySpreadConstraints: merge('topologyKey'),
    volumes: mergeRetaining('name'),
  },
  'core/v1.PodStatus': {
    conditions: merge('type'),
    hostIPs: merge('ip'),
    podIPs: merge('ip'),
    resourceClaimStatuses: mergeRetaining('name'),
  },
  'core/v1.NodeSpec': { podCIDRs: mergeValues },
  'core/v1.NodeStatus': { addresses: merge('type'), conditions: merge('type') },
  'core/v1.NamespaceStatus': { conditions: merge('type') },
  'core/v1.ServiceAccount': { secrets: merge('name') },
  'core/v1.ServiceSpec': { ports: merge('port') },
  'apps/v1.DaemonSetStatus': { conditions: merge('type') },
  'apps/v1.DeploymentStatus': { conditions: merge('type') },
  'policy/v1.PodDisruptionBudgetStatus': { conditions: merge('type') },
  'admissionregistration/v1.MutatingWebhookConfiguration': { webhooks: merge('name') },
  'admissionregistration/v1.ValidatingWebhookConfiguration': { webhooks: merge('name') },
  'admissionregistration/v1.MutatingWebhook': { matchConditions: merge('name') },
  'admissionregistration/v1.ValidatingWebhook': { matchConditions: merge('name') },
}
