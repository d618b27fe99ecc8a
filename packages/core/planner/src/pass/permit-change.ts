import type { Permit } from '@tranche/api-schema'
import { type FleetPod, isAvailable, nodeInView, type NodeView } from '@tranche/fleet'
import { type PermitChange, permitSlack } from '@tranche/flight'
import { chooseCandidates } from './choose-candidates.ts'
import { type FlownPermit, isOldNode, isOver, nodesBeingTaken, type Scene } from './scene.ts'

/** How many standing permits may be left before new ones are appended: one write then serves as many nodes as the record has slack for. */
const LOW_WATER = 2

/** The next write of the record, or null while none is worth its cost. Settles ride along with the next append (F3). */
export function permitChange(scene: Scene, again: readonly NodeView[] | null): PermitChange | null {
  const gone = scene.permits.filter((flown) => isOver(flown) || flown.state === 'dead')
  const standing = scene.permits.filter(({ state }) => state === 'standing' || state === 'unseen')
  const cannotWait = mustLeaveNow(scene, gone)
  if (!cannotWait && standing.length > LOW_WATER) return null
  const leaving = [...gone, ...repeatedPermits(scene)]
  const stay = scene.permits.filter((flown) => !leaving.includes(flown))
  const append = again === null ? permitsToAppend(scene, scene.tally.old, stay) : permitsToTakeAgain(scene, again, stay)
  if (!cannotWait && append.length === 0) return null
  return {
    remove: leaving.map(({ permit }) => permit),
    append: append.map(({ permit }) => permit),
    restsOn: restsOn(scene, leaving, append),
  }
}

/** Permits whose pod is gone, and behind which, with none that stands in between, stands another of the same node. */
function repeatedPermits(scene: Scene): readonly FlownPermit[] {
  const later = new Set<string>()
  return scene.permits.toReversed().filter((flown) => {
    if (flown.state === 'standing' || flown.state === 'unseen') later.clear()
    if (flown.state !== 'flying') return false
    const isRepeated = later.has(flown.permit.node)
    later.add(flown.permit.node)
    return isRepeated
  })
}

/**
 * A permit that settled may stay for a while when nothing else needs a write; but not more of them than the record has
 * slack for, nor one that keeps its node from a new permit.
 */
function mustLeaveNow(scene: Scene, gone: readonly FlownPermit[]): boolean {
  const settled = gone.filter(({ state }) => state === 'settled')
  if (settled.length < gone.length || settled.some((flown) => isOldAgain(scene, flown))) return true
  return settled.length > 0 && (settled.length === scene.permits.length || settled.length >= permitSlack(scene.record.limit))
}

interface NewPermit {
  readonly permit: Permit
  readonly pod: FleetPod
}

/** There is room for one, however far the limit has fallen below what the record holds. */
function permitsToTakeAgain(scene: Scene, again: readonly NodeView[], stay: readonly FlownPermit[]): readonly NewPermit[] {
  return permitsToAppend(scene, again, stay, 1)
}

/** F3: old pods on nodes that can be taken, without a permit, in G5 order; no more than the batch lacks or the record holds. */
function permitsToAppend(scene: Scene, from: readonly NodeView[], stay: readonly FlownPermit[], atLeast = 0): readonly NewPermit[] {
  const { limit } = scene.record
  const count = Math.max(atLeast, limit + permitSlack(limit) - stay.length)
  if (count <= 0) return []
  const permitted = nodesBeingTaken(scene.permits)
  const free = from.filter((node) => !permitted.has(node.name))
  return chooseCandidates(scene, { free, stay, count }).map(({ node, pod }) => ({
    permit: { node: node.name, podUid: pod.uid, podResourceVersion: pod.resourceVersion, ...wasBad(scene, node) },
    pod,
  }))
}

/** A failure on a node that was bad before says nothing of the new version (product §5). */
function wasBad({ availability: { minReadyMs, monotonicMs } }: Scene, { ready, pods }: NodeView): Pick<Permit, 'wasBad'> {
  return ready && pods.some((pod) => isAvailable(pod, minReadyMs, monotonicMs)) ? {} : { wasBad: true }
}

/** A settled permit on whose node another old pod stands: the node needs a new permit. */
function isOldAgain(scene: Scene, { permit }: FlownPermit): boolean {
  return isOldNode(scene.view, scene.record, permit.node)
}

/** F2: the versions of every pod that the change looked at. */
export function restsOn(scene: Scene, remove: readonly FlownPermit[], append: readonly { readonly pod: FleetPod }[]): readonly string[] {
  const onNodes = remove.flatMap(({ permit }) => nodeInView(scene.view.fleet, permit.node)?.pods ?? [])
  return [...onNodes, ...append.map(({ pod }) => pod)].map((pod) => pod.resourceVersion)
}
