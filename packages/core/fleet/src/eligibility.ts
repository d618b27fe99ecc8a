import { valueIn } from '@tranche/kube-types'
import type { Node, PodPlacement, Taint } from '@tranche/kube-types'
import { readTerms } from './node-terms.ts'
import { automaticTolerations, isFailureTaint, readTolerations, type ReadTolerations, toleratesEach } from './tolerations.ts'

/** The parts of a node that decide whether it should run a pod of a DaemonSet. */
export type NodeForPlacement = Pick<Node, 'spec'> & { readonly metadata: Pick<Node['metadata'], 'name' | 'labels'> }

/**
 * Whether a node is a desired node of a DaemonSet with this placement. Node conditions, `spec.unschedulable` and
 * resources do not count: they concern the scheduler. A placement is read once, and compared in about as many steps as the node has labels
 * and taints: a tenant may write one of a megabyte.
 *
 * @see k8s.io/kubernetes/pkg/controller/daemon NodeShouldRunDaemonPod
 */
export function isDesiredNode(placement: PodPlacement, node: NodeForPlacement): boolean {
  return isDesiredWith(placement, node, node.spec?.taints ?? [])
}

/**
 * Whether only taints for its own failure keep a node from being desired. It is desired again once Kubernetes has removed them.
 *
 * @param node one that is not desired; as cheap as {@link isDesiredNode}
 */
export function isDesiredOnReturn(placement: PodPlacement, node: NodeForPlacement): boolean {
  const { taints = [] } = node.spec ?? {}
  const others = taints.filter((taint) => !isFailureTaint(taint))
  return others.length < taints.length && isDesiredWith(placement, node, others)
}

function isDesiredWith(placement: PodPlacement, node: NodeForPlacement, taints: readonly Taint[]): boolean {
  if (placement.nodeName !== undefined && placement.nodeName !== '' && placement.nodeName !== node.metadata.name) return false
  const { selects, ofDaemonSet } = readPlacement(placement)
  return selects(node) && (taints.length === 0 || toleratesEach(ofDaemonSet(), taints))
}

/**
 * Whether the scheduler may put a pod with this placement on a node, as far as labels, taints and `spec.unschedulable` decide. Other than
 * for pods of DaemonSets, no toleration is added. As cheap as {@link isDesiredNode}.
 */
export function isSchedulableNode(placement: PodPlacement, node: NodeForPlacement): boolean {
  const cordon: readonly Taint[] =
    node.spec?.unschedulable === true ? [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] : []
  const { selects, ofPod } = readPlacement(placement)
  const taints = [...(node.spec?.taints ?? []), ...cordon]
  return selects(node) && (taints.length === 0 || toleratesEach(ofPod(), taints))
}

/** A placement, read once. */
interface ReadPlacement {
  /** Whether node selector and affinity select the node. */
  readonly selects: (node: NodeForPlacement) => boolean
  /** Its tolerations with those that the DaemonSet controller adds. */
  readonly ofDaemonSet: () => ReadTolerations
  readonly ofPod: () => ReadTolerations
}

const placements = new WeakMap<PodPlacement, ReadPlacement>()

function readPlacement(placement: PodPlacement): ReadPlacement {
  const known = placements.get(placement) ?? read(placement)
  placements.set(placement, known)
  return known
}

/** Tolerations are read when the first node with a taint asks for them. */
function read(placement: PodPlacement): ReadPlacement {
  const tolerations = placement.tolerations ?? []
  const labels = Object.entries(placement.nodeSelector ?? {})
  const required = placement.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  const matchesTerms = required === undefined ? always : readTerms(required.nodeSelectorTerms ?? [])
  let ofDaemonSet: ReadTolerations | undefined
  let ofPod: ReadTolerations | undefined
  return {
    selects: (node) => labels.every(([key, value]) => valueIn(node.metadata.labels, key) === value) && matchesTerms(node),
    ofDaemonSet: () => (ofDaemonSet ??= readTolerations([...tolerations, ...automaticTolerations(placement)])),
    ofPod: () => (ofPod ??= readTolerations(tolerations)),
  }
}

function always(): boolean {
  return true
}
