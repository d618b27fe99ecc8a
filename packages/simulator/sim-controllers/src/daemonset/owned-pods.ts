import { controllerOf, type Node, ownerKeyOf, type Pod } from '@tranche/kube-types'
import { nodeOfPod } from '../placement/node-of-pod.ts'
import { createNodeLedger, type NodeLedger } from './nodes/node-ledger.ts'

/**
 * Pods by owner (`namespace/uid`, because an owner has pods only in its own namespace) and node. Notifies a ledger per owner of every
 * change. Keeps orphans separately.
 */
export interface OwnedPods {
  put(pod: Pod): void
  remove(pod: Pod): void
  /** The node itself was changed, added or removed. */
  touchNode(name: string): void
  ledgerOf(ownerKey: string): NodeLedger
  /** @returns whether a pod of the owner is bound to the node; pinned does not count */
  hasBoundPodOn(ownerKey: string, nodeName: string): boolean
  /** All pods of the owner, for questions that no node index answers. */
  podsOf(ownerKey: string): Iterable<Pod>
  /** `controller-revision-hash` of all pods of the owner, including terminating ones. */
  hashesOf(ownerKey: string): ReadonlySet<string>
  /** Orphaned pods of the namespace. */
  orphansIn(namespace: string): Iterable<Pod>
  /** The owner is gone. */
  forget(ownerKey: string): void
}

/** Source of nodes. */
interface NodeSource {
  get(name: string): Node | undefined
  values(): Iterable<Node>
}

interface Owner {
  readonly byNode: Map<string, Map<string, Pod>>
  readonly ledger: NodeLedger
  readonly hashes: Map<string, number>
}

/** Index position of a pod, which finds it again after any change. */
type Place = OwnedPlace | { readonly kind: 'orphan'; readonly namespace: string }

interface OwnedPlace {
  readonly kind: 'owned'
  readonly ownerKey: string
  readonly nodeName: string
  readonly hash: string
}

/** @returns an empty index */
export function createOwnedPods(nodes: NodeSource): OwnedPods {
  return new OwnedPodIndex(nodes)
}

class OwnedPodIndex implements OwnedPods {
  readonly #nodes: NodeSource
  readonly #owners = new Map<string, Owner>()
  readonly #orphans = new Map<string, Map<string, Pod>>()
  readonly #places = new Map<string, Place>()

  constructor(nodes: NodeSource) {
    this.#nodes = nodes
  }

  put(pod: Pod): void {
    const place = placeOf(pod)
    const before = this.#places.get(pod.metadata.uid)
    if (place?.kind === 'owned' && before?.kind === 'owned' && isSamePlace(place, before)) return this.#replace(pod, place)
    this.remove(pod)
    if (place !== undefined) this.#add(pod, place)
  }

  remove({ metadata: { uid } }: Pod): void {
    const place = this.#places.get(uid)
    this.#places.delete(uid)
    if (place === undefined) return
    if (place.kind === 'orphan') return removeFrom(this.#orphans, place.namespace, uid)
    const owner = this.#owners.get(place.ownerKey)
    if (owner === undefined) return
    removeFrom(owner.byNode, place.nodeName, uid)
    const count = owner.hashes.get(place.hash)! - 1
    if (count > 0) owner.hashes.set(place.hash, count)
    else owner.hashes.delete(place.hash)
    owner.ledger.touch(place.nodeName)
  }

  touchNode(name: string): void {
    for (const owner of this.#owners.values()) owner.ledger.touch(name)
  }

  ledgerOf(ownerKey: string): NodeLedger {
    return this.#ownerOf(ownerKey).ledger
  }

  hasBoundPodOn(ownerKey: string, nodeName: string): boolean {
    for (const pod of this.#owners.get(ownerKey)?.byNode.get(nodeName)?.values() ?? []) if (pod.spec?.nodeName) return true
    return false
  }

  *podsOf(ownerKey: string): Iterable<Pod> {
    for (const there of this.#owners.get(ownerKey)?.byNode.values() ?? []) yield* there.values()
  }

  hashesOf(ownerKey: string): ReadonlySet<string> {
    return new Set(this.#owners.get(ownerKey)?.hashes.keys())
  }

  orphansIn(namespace: string): Iterable<Pod> {
    return this.#orphans.get(namespace)?.values() ?? []
  }

  forget(ownerKey: string): void {
    for (const there of this.#owners.get(ownerKey)?.byNode.values() ?? []) for (const uid of there.keys()) this.#places.delete(uid)
    this.#owners.delete(ownerKey)
  }

  #ownerOf(ownerKey: string): Owner {
    let owner = this.#owners.get(ownerKey)
    if (owner === undefined) this.#owners.set(ownerKey, (owner = createOwner(this.#nodes)))
    return owner
  }

  #add(pod: Pod, place: Place): void {
    this.#places.set(pod.metadata.uid, place)
    if (place.kind === 'orphan') return addTo(this.#orphans, place.namespace, pod)
    const owner = this.#ownerOf(place.ownerKey)
    addTo(owner.byNode, place.nodeName, pod)
    owner.hashes.set(place.hash, (owner.hashes.get(place.hash) ?? 0) + 1)
    owner.ledger.touch(place.nodeName)
  }

  #replace(pod: Pod, { ownerKey, nodeName }: OwnedPlace): void {
    const owner = this.#owners.get(ownerKey)!
    owner.byNode.get(nodeName)!.set(pod.metadata.uid, pod)
    owner.ledger.touch(nodeName)
  }
}

function createOwner(nodes: NodeSource): Owner {
  const byNode = new Map<string, Map<string, Pod>>()
  const ledger = createNodeLedger({
    node: (name) => nodes.get(name),
    podsOn: (name) => [...(byNode.get(name)?.values() ?? [])],
    *nodeNames() {
      for (const node of nodes.values()) yield node.metadata.name
      yield* byNode.keys()
    },
  })
  return { byNode, ledger, hashes: new Map() }
}

/** A controlled pod that may run anywhere, and one of another kind of controller, has no place here. */
function placeOf(pod: Pod): Place | undefined {
  const owner = controllerOf(pod)
  if (owner === undefined) return { kind: 'orphan', namespace: pod.metadata.namespace ?? '' }
  const nodeName = nodeOfPod(pod)
  if (owner.kind !== 'DaemonSet' || nodeName === undefined) return undefined
  return {
    kind: 'owned',
    ownerKey: ownerKeyOf({ metadata: { namespace: pod.metadata.namespace, uid: owner.uid } }),
    nodeName,
    hash: pod.metadata.labels?.['controller-revision-hash'] ?? '',
  }
}

function isSamePlace(a: OwnedPlace, b: OwnedPlace): boolean {
  return a.ownerKey === b.ownerKey && a.nodeName === b.nodeName && a.hash === b.hash
}

function addTo(groups: Map<string, Map<string, Pod>>, group: string, pod: Pod): void {
  let there = groups.get(group)
  if (there === undefined) groups.set(group, (there = new Map()))
  there.set(pod.metadata.uid, pod)
}

function removeFrom(groups: Map<string, Map<string, Pod>>, group: string, uid: string): void {
  const there = groups.get(group)
  there?.delete(uid)
  if (there?.size === 0) groups.delete(group)
}
