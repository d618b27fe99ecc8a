import { controllerOf, type Node, type Pod } from '@tranche/kube-types'
import { nodeOfPod } from '../placement/node-of-pod.ts'
import { createNodeLedger, type NodeLedger } from './node-ledger.ts'

/** Pods by owner and node, with a ledger per owner that is told of every change. */
export interface OwnedPods {
  put(pod: Pod, before?: Pod): void
  remove(pod: Pod): void
  /** The node itself has changed, come or gone. */
  touchNode(name: string): void
  ledgerOf(ownerUid: string): NodeLedger
  hasPodOn(ownerUid: string, nodeName: string): boolean
  /** All pods of the owner: only for what cannot be answered by node. */
  podsOf(ownerUid: string): Iterable<Pod>
  /** The owner is gone. */
  forget(ownerUid: string): void
}

/** Where the index looks nodes up. */
interface NodeSource {
  get(name: string): Node | undefined
  values(): Iterable<Node>
}

interface Owner {
  readonly byNode: Map<string, Map<string, Pod>>
  readonly ledger: NodeLedger
}

/** @returns an empty index */
export function createOwnedPods(nodes: NodeSource): OwnedPods {
  const owners = new Map<string, Owner>()

  function ownerOf(uid: string): Owner {
    let owner = owners.get(uid)
    if (owner === undefined) owners.set(uid, (owner = createOwner(nodes)))
    return owner
  }

  function remove(pod: Pod): void {
    const place = placeOf(pod)
    if (place === undefined) return
    const owner = owners.get(place.ownerUid)
    const there = owner?.byNode.get(place.nodeName)
    there?.delete(pod.metadata.uid)
    if (there?.size === 0) owner?.byNode.delete(place.nodeName)
    owner?.ledger.touch(place.nodeName)
  }

  return {
    put(pod, before) {
      if (before !== undefined) remove(before)
      const place = placeOf(pod)
      if (place === undefined) return
      const { byNode, ledger } = ownerOf(place.ownerUid)
      let there = byNode.get(place.nodeName)
      if (there === undefined) byNode.set(place.nodeName, (there = new Map()))
      there.set(pod.metadata.uid, pod)
      ledger.touch(place.nodeName)
    },
    remove,
    touchNode(name) {
      for (const owner of owners.values()) owner.ledger.touch(name)
    },
    ledgerOf: (ownerUid) => ownerOf(ownerUid).ledger,
    hasPodOn: (ownerUid, nodeName) => owners.get(ownerUid)?.byNode.has(nodeName) === true,
    *podsOf(ownerUid) {
      for (const there of owners.get(ownerUid)?.byNode.values() ?? []) yield* there.values()
    },
    forget: (ownerUid) => void owners.delete(ownerUid),
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
  return { byNode, ledger }
}

/** A pod without controller, or one that may run anywhere, has no place here. */
function placeOf(pod: Pod): { readonly ownerUid: string; readonly nodeName: string } | undefined {
  const owner = controllerOf(pod)
  const nodeName = nodeOfPod(pod)
  return owner?.kind === 'DaemonSet' && nodeName !== undefined ? { ownerUid: owner.uid, nodeName } : undefined
}
