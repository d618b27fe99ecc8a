import { isSelectedBy, type Labels, ownerKeyOf, type OwnerOfObjects, type PodPlacement } from '@tranche/kube-types'
import { isDesiredNode, isDesiredOnReturn } from './eligibility.ts'
import type { FleetPod } from './fleet-pod.ts'
import { type FleetNode, type FleetView, type NodeView, toFleetView, viewOfBlocks } from './fleet-view.ts'
import { changeBlocks } from './node-blocks.ts'

/** The parts of a DaemonSet that its view depends on. */
export interface FleetOwner extends OwnerOfObjects {
  readonly spec: OwnerOfObjects['spec'] & { readonly template: { readonly spec?: PodPlacement | undefined } }
}

/**
 * Index of the nodes and pods of a cluster. The view of one DaemonSet costs only the changes since its last view, plus one copy of
 * the list of its nodes. Holds the objects that watches delivered; decides nothing.
 */
export class FleetIndex {
  readonly #nodes = new Map<string, FleetNode>()
  /** Key of the owner → node → pods. */
  readonly #pods = new Map<string, Map<string, readonly FleetPod[]>>()
  readonly #slices = new Map<string, Slice>()

  /** Applies a change of a node; `current` is undefined when it was deleted. */
  nodeChanged(previous: FleetNode | undefined, current: FleetNode | undefined): void {
    const name = (current ?? previous)?.name
    if (name === undefined) return
    if (current === undefined) this.#nodes.delete(name)
    else this.#nodes.set(name, current)
    for (const slice of this.#slices.values()) slice.dirty.add(name)
  }

  /** Applies a change of a pod; `current` is undefined when it was deleted. */
  podChanged(previous: FleetPod | undefined, current: FleetPod | undefined): void {
    if (previous !== undefined) this.#remove(previous)
    if (current !== undefined) this.#add(current)
  }

  /** @returns the node as last observed; undefined when unknown */
  node(name: string): FleetNode | undefined {
    return this.#nodes.get(name)
  }

  /**
   * Has the nodes that are desired, now or on their return, and the DaemonSet's own pods in its own namespace (F15).
   *
   * @returns the view of the DaemonSet; the same object until a node or pod changes
   */
  view(owner: FleetOwner): FleetView {
    const slice = this.#slice(owner)
    if (slice.view !== undefined && slice.dirty.size === 0) return slice.view
    const changes = new Map<string, NodeView | undefined>()
    for (const name of slice.dirty) changes.set(name, this.#viewOf(slice.owner, name))
    slice.dirty.clear()
    slice.view = slice.view === undefined ? firstView(changes) : viewOfBlocks(changeBlocks(slice.view.blocks, changes))
    return slice.view
  }

  /** Drops the cached view of a deleted DaemonSet; its pods stay until their own deletion is observed. */
  forget(owner: Pick<FleetOwner, 'metadata'>): void {
    this.#slices.delete(ownerKeyOf(owner))
  }

  #slice(owner: FleetOwner): Slice {
    const key = ownerKeyOf(owner)
    const known = this.#slices.get(key)
    if (known?.latest === owner.spec) return known
    const signature = signatureOf(owner)
    if (known?.signature === signature) {
      known.latest = owner.spec
      return known
    }
    const dirty = new Set([...this.#nodes.keys(), ...(this.#pods.get(key)?.keys() ?? [])])
    const slice: Slice = { signature, owner, latest: owner.spec, dirty, view: undefined }
    this.#slices.set(key, slice)
    return slice
  }

  #viewOf(owner: FleetOwner, name: string): NodeView | undefined {
    const node = this.#nodes.get(name)
    const pods = (this.#pods.get(ownerKeyOf(owner))?.get(name) ?? []).filter((pod) => isSelectedBy(owner, pod.labels))
    const placed = placedOn(placementOf(owner), node)
    if (!placed.desired && placed.desiredOnReturn !== true && pods.length === 0) return undefined
    const { ready = false, answers = false, labels = NO_LABELS } = node ?? {}
    return { name, ...placed, ...(node === undefined && { isDeleted: true }), ready, answers, ...outageOf(node), labels, pods }
  }

  #add(pod: FleetPod): void {
    const key = keyOfOwner(pod)
    const byNode = this.#pods.get(key) ?? new Map<string, readonly FleetPod[]>()
    this.#pods.set(key, byNode)
    byNode.set(pod.node, [...(byNode.get(pod.node) ?? []), pod].sort(byAge))
    this.#slices.get(key)?.dirty.add(pod.node)
  }

  #remove(pod: FleetPod): void {
    const key = keyOfOwner(pod)
    const byNode = this.#pods.get(key)
    const left = (byNode?.get(pod.node) ?? []).filter((other) => other.uid !== pod.uid)
    if (left.length > 0) byNode?.set(pod.node, left)
    else byNode?.delete(pod.node)
    if (byNode?.size === 0) this.#pods.delete(key)
    this.#slices.get(key)?.dirty.add(pod.node)
  }
}

const NO_LABELS: Labels = {}
const ANYWHERE: PodPlacement = {}

function keyOfOwner({ namespace, ownerUid }: FleetPod): string {
  return ownerKeyOf({ metadata: { namespace, uid: ownerUid } })
}

function placementOf({ spec }: FleetOwner): PodPlacement {
  return spec.template.spec ?? ANYWHERE
}

function placedOn(placement: PodPlacement, node: FleetNode | undefined): Pick<NodeView, 'desired' | 'desiredOnReturn'> {
  if (node === undefined) return { desired: false }
  const asked = { metadata: node, spec: node }
  if (isDesiredNode(placement, asked)) return { desired: true }
  return { desired: false, ...(isDesiredOnReturn(placement, asked) && { desiredOnReturn: true as const }) }
}

/** Cached view of one DaemonSet. */
interface Slice {
  readonly signature: string
  readonly owner: FleetOwner
  /** Spec of the DaemonSet as last given, with the same signature: the signature of a large one takes a while. */
  latest: FleetOwner['spec']
  /** Nodes that may have changed since `view`. */
  readonly dirty: Set<string>
  view: FleetView | undefined
}

type OutageField = 'notReadySince' | 'notReadyFromMs' | 'silentSince' | 'unreadyFromMs' | 'maintenance' | 'maintenanceSince'

function outageOf(node: FleetNode | undefined): Pick<NodeView, OutageField> {
  const { notReadySince, notReadyFromMs, silentSince, unreadyFromMs, maintenance, maintenanceSince } = node ?? {}
  return {
    ...(notReadySince !== undefined && { notReadySince }),
    ...(notReadyFromMs !== undefined && { notReadyFromMs }),
    ...(silentSince !== undefined && { silentSince }),
    ...(unreadyFromMs !== undefined && { unreadyFromMs }),
    ...(maintenance !== undefined && { maintenance }),
    ...(maintenanceSince !== undefined && { maintenanceSince }),
  }
}

function firstView(nodes: ReadonlyMap<string, NodeView | undefined>): FleetView {
  return toFleetView([...nodes.values()].filter((node) => node !== undefined).sort((a, b) => (a.name < b.name ? -1 : 1)))
}

/** Signature of a DaemonSet: equal signatures under the same key mean the same desired nodes and pods. */
function signatureOf(owner: FleetOwner): string {
  const { nodeName, nodeSelector, hostNetwork, tolerations, affinity } = placementOf(owner)
  return JSON.stringify([nodeName, nodeSelector, hostNetwork === true, tolerations, affinity?.nodeAffinity, owner.spec.selector])
}

/** Oldest first, then by name; by code unit, so that the order does not depend on the machine. */
function byAge(a: FleetPod, b: FleetPod): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}
