import type { LabelSelectorRequirement, Node, NodeSelectorTerm, PodPlacement, Taint, Toleration } from '@tranche/kube-types'

/** The parts of a node that decide whether it should run a pod of a DaemonSet. */
export type NodeForPlacement = Pick<Node, 'spec'> & { readonly metadata: Pick<Node['metadata'], 'name' | 'labels'> }

/**
 * Whether a node is a desired node of a DaemonSet with this placement. Node conditions, `spec.unschedulable` and
 * resources do not count: they concern the scheduler.
 *
 * @see k8s.io/kubernetes/pkg/controller/daemon NodeShouldRunDaemonPod
 */
export function isDesiredNode(placement: PodPlacement, node: NodeForPlacement): boolean {
  if (placement.nodeName !== undefined && placement.nodeName !== '' && placement.nodeName !== node.metadata.name) return false
  return matchesSelector(placement, node) && matchesAffinity(placement, node) && toleratesAll(placement, node.spec?.taints ?? [])
}

/**
 * Whether the scheduler may put a pod with this placement on a node, as far as labels, taints and `spec.unschedulable` decide. Other than
 * for pods of DaemonSets, no toleration is added.
 */
export function isSchedulableNode(placement: PodPlacement, node: NodeForPlacement): boolean {
  const cordon: readonly Taint[] =
    node.spec?.unschedulable === true ? [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] : []
  return (
    matchesSelector(placement, node) &&
    matchesAffinity(placement, node) &&
    toleratesEach(placement.tolerations ?? [], [...(node.spec?.taints ?? []), ...cordon])
  )
}

function matchesSelector(placement: PodPlacement, node: NodeForPlacement): boolean {
  const labels = node.metadata.labels ?? {}
  return Object.entries(placement.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)
}

function matchesAffinity(placement: PodPlacement, node: NodeForPlacement): boolean {
  const required = placement.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  if (required === undefined) return true
  return (required.nodeSelectorTerms ?? []).some((term) => matchesTerm(term, node))
}

/** Whether a term matches a node. An empty term matches no node; an invalid term is skipped. */
function matchesTerm(term: NodeSelectorTerm, node: NodeForPlacement): boolean {
  const expressions = term.matchExpressions ?? []
  const fields = term.matchFields ?? []
  if (expressions.length === 0 && fields.length === 0) return false
  const labels = node.metadata.labels ?? {}
  return (
    expressions.every((requirement) => matchesRequirement(requirement, labels[requirement.key])) &&
    fields.every((requirement) => matchesField(requirement, node.metadata.name))
  )
}

function matchesRequirement(requirement: LabelSelectorRequirement, value: string | undefined): boolean {
  const values = requirement.values ?? []
  switch (requirement.operator) {
    case 'In':
      return values.length > 0 && value !== undefined && values.includes(value)
    case 'NotIn':
      return values.length > 0 && (value === undefined || !values.includes(value))
    case 'Exists':
      return values.length === 0 && value !== undefined
    case 'DoesNotExist':
      return values.length === 0 && value === undefined
    case 'Gt':
      return isWhole(value) && isWhole(values[0]) && BigInt(value) > BigInt(values[0])
    case 'Lt':
      return isWhole(value) && isWhole(values[0]) && BigInt(value) < BigInt(values[0])
    default:
      return false
  }
}

function matchesField(requirement: LabelSelectorRequirement, name: string): boolean {
  if (requirement.key !== 'metadata.name' || requirement.values?.length !== 1) return false
  if (requirement.operator === 'In') return requirement.values[0] === name
  return requirement.operator === 'NotIn' && requirement.values[0] !== name
}

function isWhole(text: string | undefined): text is string {
  return text !== undefined && /^-?\d+$/.test(text)
}

function toleratesAll(placement: PodPlacement, taints: readonly Taint[]): boolean {
  return taints.length === 0 || toleratesEach([...(placement.tolerations ?? []), ...automaticTolerations(placement)], taints)
}

function toleratesEach(tolerations: readonly Toleration[], taints: readonly Taint[]): boolean {
  return taints.every((taint) => taint.effect === 'PreferNoSchedule' || tolerations.some((toleration) => tolerates(toleration, taint)))
}

/** Tolerations that the DaemonSet controller adds to every pod. */
function automaticTolerations(placement: PodPlacement): Toleration[] {
  const always = [
    ['not-ready', 'NoExecute'],
    ['unreachable', 'NoExecute'],
    ['disk-pressure', 'NoSchedule'],
    ['memory-pressure', 'NoSchedule'],
    ['pid-pressure', 'NoSchedule'],
    ['unschedulable', 'NoSchedule'],
  ]
  const all = placement.hostNetwork === true ? [...always, ['network-unavailable', 'NoSchedule']] : always
  return all.map(([key, effect]) => ({ key: `node.kubernetes.io/${key}`, operator: 'Exists', effect: effect! }))
}

function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect !== undefined && toleration.effect !== '' && toleration.effect !== taint.effect) return false
  if (toleration.key !== undefined && toleration.key !== '' && toleration.key !== taint.key) return false
  if (toleration.operator === 'Exists') return true
  return (toleration.operator ?? 'Equal') === 'Equal' && (toleration.value ?? '') === (taint.value ?? '')
}
