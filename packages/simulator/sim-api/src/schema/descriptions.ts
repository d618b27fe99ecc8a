/**
 * @param path a definition, or one of its fields: `apps/v1.DaemonSet`, `apps/v1.DaemonSetSpec.template`
 * @returns one sentence, or an empty string
 */
export function descriptionOf(path: string): string {
  return descriptions[path] ?? fieldDescriptions[path.slice(path.lastIndexOf('.') + 1)] ?? ''
}

/** Fields with the same meaning in every type. */
const fieldDescriptions: Readonly<Record<string, string>> = {
  apiVersion: 'Group and version of this object.',
  kind: 'Kind of this object.',
  metadata: 'Name, labels and what else every object carries.',
}

const descriptions: Readonly<Record<string, string>> = {
  'core/v1.Namespace': 'A scope for the names of other objects.',
  'core/v1.Node': 'A machine that runs pods.',
  'core/v1.Node.spec': 'How the node is to be used: taints, cordon, addresses of its pods.',
  'core/v1.Node.status': 'What the kubelet reports about the node.',
  'core/v1.Pod': 'Containers that run together on one node.',
  'core/v1.Pod.spec': 'What is to run, and where.',
  'core/v1.Pod.status': 'What runs, as the kubelet reports it.',
  'core/v1.Binding': 'Puts a pod on a node.',
  'core/v1.Event': 'A report that something happened to an object.',
  'core/v1.ConfigMap': 'Configuration as keys and values.',
  'core/v1.Secret': 'Confidential values; each is base64 on the wire.',
  'core/v1.ServiceAccount': 'An identity for what runs in pods.',
  'core/v1.Service': 'A name under which pods are reached.',
  'apps/v1.Deployment': 'Keeps a number of pods; here it is stored, and nothing runs them.',
  'apps/v1.DaemonSet': 'Keeps one pod on every eligible node.',
  'apps/v1.DaemonSet.spec': 'Which pods are to run, and how they are replaced.',
  'apps/v1.DaemonSet.status': 'How many nodes run the pod, and how many of those are up to date.',
  'apps/v1.DaemonSetSpec.minReadySeconds': 'How long a pod must be ready before it counts as available; 0 by default.',
  'apps/v1.DaemonSetSpec.revisionHistoryLimit': 'How many old revisions are kept; 10 by default.',
  'apps/v1.DaemonSetSpec.selector': 'Which pods belong to the DaemonSet; cannot change.',
  'apps/v1.DaemonSetSpec.template': 'The pod that is created on each node.',
  'apps/v1.DaemonSetSpec.updateStrategy': 'How pods of an older revision are replaced.',
  'apps/v1.DaemonSetUpdateStrategy.type': 'RollingUpdate (the default) or OnDelete.',
  'apps/v1.RollingUpdateDaemonSet.maxSurge': 'How many nodes may run two pods during an update; a number or a percentage.',
  'apps/v1.RollingUpdateDaemonSet.maxUnavailable':
    'How many nodes may lack an available pod during an update; a number or a percentage, 1 by default.',
  'apps/v1.ControllerRevision': 'One revision of the template of a DaemonSet or StatefulSet.',
  'apps/v1.ControllerRevision.data': 'The patch that restores this revision.',
  'apps/v1.ControllerRevision.revision': 'Grows with each revision that becomes current.',
  'coordination/v1.Lease': 'A claim that one holder renews, for leader election and node heartbeats.',
  'networking/v1.NetworkPolicy': 'Who may reach some pods, and whom they may reach; here it is stored only.',
  'networking/v1.Ingress': 'How a Service is reached from outside; here it is stored only.',
  'apiextensions/v1.CustomResourceDefinition': 'Adds a resource to the API.',
  'policy/v1.Eviction': 'Asks for the deletion of a pod, within disruption budgets.',
  'meta/v1.ObjectMeta': 'Name, labels and what else every object carries.',
  'meta/v1.DeleteOptions': 'How an object is to be deleted.',
  'meta/v1.Status': 'The outcome of a request that has no object to show.',
}
