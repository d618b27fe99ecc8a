import { valueIn } from '@tranche/kube-types'

/**
 * @param path a definition, or one of its fields: `apps/v1.DaemonSet`, `apps/v1.DaemonSetSpec.template`
 * @returns one sentence, or an empty string
 */
export function descriptionOf(path: string): string {
  return valueIn(descriptions, path) ?? valueIn(fieldDescriptions, path.slice(path.lastIndexOf('.') + 1)) ?? ''
}

/** Fields with the same meaning in every type. */
const fieldDescriptions: Readonly<Record<string, string>> = {
  apiVersion: 'Group and version of this object.',
  kind: 'Kind of this object.',
  metadata: 'Name, labels and other metadata of every object.',
}

const descriptions: Readonly<Record<string, string>> = {
  'core/v1.Namespace': 'Scope for the names of other objects.',
  'core/v1.Node': 'Machine that runs pods.',
  'core/v1.Node.spec': 'Desired use of the node: taints, cordon, addresses of its pods.',
  'core/v1.Node.status': 'State of the node, reported by its kubelet.',
  'core/v1.Pod': 'Containers that run together on one node.',
  'core/v1.Pod.spec': 'Containers to run, and rules for their node.',
  'core/v1.Pod.status': 'State of the pod, reported by the kubelet.',
  'core/v1.Binding': 'Puts a pod on a node.',
  'core/v1.Event': 'Report of an event that concerns an object.',
  'core/v1.ConfigMap': 'Configuration as keys and values.',
  'core/v1.Secret': 'Confidential values; each is base64 on the wire.',
  'core/v1.ServiceAccount': 'Identity for processes in pods.',
  'core/v1.Service': 'Name under which pods are reached.',
  'apps/v1.Deployment': 'Keeps a number of pods; the simulator stores it without running pods.',
  'apps/v1.DaemonSet': 'Keeps one pod on every eligible node.',
  'apps/v1.DaemonSet.spec': 'Pods to run, and how they are replaced.',
  'apps/v1.DaemonSet.status': 'Number of nodes that run the pod, and of those that are up to date.',
  'apps/v1.DaemonSetSpec.minReadySeconds': 'Seconds for which a pod must be ready to be available; 0 by default.',
  'apps/v1.DaemonSetSpec.revisionHistoryLimit': 'Number of old revisions that are kept; 10 by default.',
  'apps/v1.DaemonSetSpec.selector': 'Selects the pods of the DaemonSet; immutable.',
  'apps/v1.DaemonSetSpec.template': 'Template of the pod on each node.',
  'apps/v1.DaemonSetSpec.updateStrategy': 'How pods of an older revision are replaced.',
  'apps/v1.DaemonSetUpdateStrategy.type': 'RollingUpdate (the default) or OnDelete.',
  'apps/v1.RollingUpdateDaemonSet.maxSurge': 'Maximum number of nodes that run two pods during an update; a number or a percentage.',
  'apps/v1.RollingUpdateDaemonSet.maxUnavailable':
    'Maximum number of nodes without an available pod during an update; a number or a percentage, 1 by default.',
  'apps/v1.ControllerRevision': 'One revision of the template of a DaemonSet or StatefulSet.',
  'apps/v1.ControllerRevision.data': 'The patch that restores this revision.',
  'apps/v1.ControllerRevision.revision': 'Increases with each revision that becomes current.',
  'coordination/v1.Lease': 'A claim that one holder renews, for leader election and node heartbeats.',
  'networking/v1.NetworkPolicy': 'Allowed traffic of selected pods; the simulator stores it without enforcement.',
  'networking/v1.Ingress': 'External access to a Service; the simulator stores it without effect.',
  'apiextensions/v1.CustomResourceDefinition': 'Adds a resource to the API.',
  'policy/v1.Eviction': 'Requests the deletion of a pod, within disruption budgets.',
  'meta/v1.ObjectMeta': 'Name, labels and other metadata of every object.',
  'meta/v1.DeleteOptions': 'Options of a delete request.',
  'meta/v1.Status': 'Outcome of a request that returns no object.',
}
