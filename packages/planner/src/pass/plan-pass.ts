import type { FlightRecord, Permit } from '@tranche/api-schema'
import { type FleetPod, nodeInView, type NodeView } from '@tranche/fleet'
import { type PermitChange, permitSlack } from '@tranche/flight'
import { compareResourceVersions } from '@tranche/kube-types'
import { type Candidate, firstCandidates } from './candidate-order.ts'
import { isOld } from '../old-nodes.ts'
import { isBroken } from './node-tally.ts'
import type { PassView } from './pass-view.ts'
import { type FlownPermit, isGone, isOldNode, nodesBeingTaken, readScene, type Scene } from './scene.ts'

/** A permit together with the pod that it is for. */
export interface PermittedPod {
  readonly permit: Permit
  readonly namespace: string
  readonly podName: string
}

/** The one thing an executor's pass should do. */
export type PassPlan =
  /** Delete these pods, each with its permit's preconditions; each delete stands alone (F4). */
  | { readonly kind: 'execute'; readonly pods: readonly PermittedPod[] }
  /** One write of the record (F3, F5, F6). */
  | { readonly kind: 'changePermits'; readonly change: PermitChange }
  /** Touch these pods, then take the permits of those that still stand out of the record (F7). */
  | { readonly kind: 'withdraw'; readonly pods: readonly PermittedPod[] }
  /** Nothing now. `wakeAtMs` (monotonic) where only the clock will change that; null: a watch event will come. */
  | { readonly kind: 'wait'; readonly for: PassWait; readonly wakeAtMs: number | null }

/** What a pass waits for; each ends with a watch event, `availability` also with the clock. */
export type PassWait = 'record' | 'podWatch' | 'opening' | 'agreement' | 'availability' | 'budget' | 'batch'

/** How many standing permits may be left before new ones are appended: one write then serves as many nodes as the record has slack for. */
const LOW_WATER = 2

/**
 * Decides what one executor does next for one DaemonSet. Pure: the same view gives the same plan.
 *
 * Keeps G1 to G5 and G8 together with the record's compare-and-swap and the preconditions of each delete; the rules F1
 * to F7 stand beside the lines that keep them.
 */
export function planPass(view: PassView): PassPlan {
  const { record } = view
  if (record === undefined) return waitFor('record')
  // F2: a view older than what the record rests on might miss a pod that was deleted on our behalf.
  if (compareResourceVersions(view.podsSeen, record.watermark) < 0) return waitFor('podWatch')
  const scene = readScene(view, record)
  if (record.state !== 'open') return settleOnly(scene)
  if (!agrees(view, record)) return waitFor('agreement')

  const unwanted = permitsNotWanted(scene)
  if (unwanted.length > 0) return { kind: 'withdraw', pods: unwanted.map(toPermittedPod) }
  const executable = executablePermits(scene)
  if (executable.length > 0) return { kind: 'execute', pods: executable.map(toPermittedPod) }
  const again = nodesToTakeAgain(scene)
  const blocking = again === null ? headThatBlocks(scene) : permitsInTheWay(scene, again)
  if (blocking.length > 0) return { kind: 'withdraw', pods: blocking.map(toPermittedPod) }
  const change = permitChange(scene, again)
  return change === null ? waitAsNeeded(scene) : { kind: 'changePermits', change }
}

/** F1: the record permits, the DaemonSet announces, and only where both say the same may anybody act. */
export function agrees(view: PassView, record: FlightRecord): boolean {
  const said = view.announcement
  return (
    record.state === 'open' &&
    said.uid === record.workloadUid &&
    said.controlledBy === view.releaseUid &&
    said.canaryRevision === record.revision &&
    said.partition === record.partition &&
    !said.paused &&
    said.strategy === 'OnDelete' &&
    said.generation === record.generation &&
    said.observedGeneration === record.generation
  )
}

/**
 * F4: the permits that may be executed now. One walk: whoever stands earlier in the record has the place.
 *
 * More nodes may be in flight, as the record has them, than the limit allows: it was lowered, or a node whose permit had
 * settled lost its pod again. The first permit that stands may be used all the same where the last one before it whose pod
 * is gone is of its own node `c`. Every permit that was ever executed stands at or before that one, and when that one was
 * judged, the nodes of all the others were fewer than the limit; since then nothing was executed that could add to them,
 * for a permit behind the first one that stands counts that one's node. So `c` joins fewer than `limit` others (G2), and
 * as `c` settles and leaves the record, the node before it is the last. A permit whose pod others have deleted was
 * never judged: its node adds itself, nothing more. When the limit falls, every unexecuted permit is withdrawn, so that
 * none in front of the last one may be executed after it by the old limit (F10).
 */
function executablePermits(scene: Scene): readonly FlownPermit[] {
  const { limit } = scene.record
  // D: nodes of earlier unsettled permits, executed or not.
  const taken = new Set<string>()
  const down = nodesDown(scene)
  const executable: FlownPermit[] = []
  let lastGone: string | undefined
  let isFirst = true
  for (const flown of scene.permits) {
    const { node } = flown.permit
    const hasPlace = sizeWithout(taken, node) < limit || (isFirst && lastGone === node)
    // Ready costs budget as if available: time alone may make it so, and no resourceVersion moves then.
    const hasBudget = flown.pod?.ready === false || sizeWithout(down, node) < limit
    if (hasPlace && hasBudget && isReadyToGo(scene, flown)) executable.push(flown)
    if (flown.state === 'standing' || flown.state === 'unseen') isFirst = false
    if (!isUnsettled(flown)) continue
    if (isGone(flown)) lastGone = node
    taken.add(node)
    down.add(node)
  }
  return executable
}

/** Standing, not sent yet, and still wanted. */
function isReadyToGo(scene: Scene, flown: FlownPermit): boolean {
  if (flown.state !== 'standing' || flown.pod === undefined || flown.isSent) return false
  return isOld(flown.pod, scene.record.revision) && isTakeable(scene, flown.permit.node)
}

/** U, and the part of D that our view shows deleted by us. */
function nodesDown(scene: Scene): Set<string> {
  const down = new Set(scene.tally.unavailable)
  for (const flown of scene.permits) if (isGone(flown)) down.add(flown.permit.node)
  return down
}

/** F4: the own node is excepted: deleting again on it adds nothing. */
function sizeWithout(nodes: ReadonlySet<string>, own: string): number {
  return nodes.has(own) ? nodes.size - 1 : nodes.size
}

/** F6: a permit of a node that is no longer desired counts as unsettled until the record says otherwise. */
function isUnsettled(flown: FlownPermit): boolean {
  return flown.state !== 'settled'
}

/** A node whose pod may be taken now: desired, and its kubelet answers. */
function isTakeable(scene: Scene, name: string): boolean {
  const node = nodeInView(scene.view.fleet, name)
  return node?.desired === true && node.ready
}

/** F7: standing permits of nodes that cannot be taken any more; else as many of the last ones as exceed what the batch lacks. */
function permitsNotWanted(scene: Scene): readonly FlownPermit[] {
  const standing = standingPermits(scene)
  const unwanted = standing.filter((flown) => !isReadyToGo(scene, flown))
  if (unwanted.length > 0) return unwanted
  return scene.lack < 0 ? standing.slice(scene.lack) : []
}

/**
 * F7: the head of those that stand, where nothing may be executed and it waits because of U while a broken old pod has no
 * place in front of it. A Ready pod in U needs none: time makes it available. Where D alone is the limit, only a pod on a
 * node of D could go before the head: deleting again there adds nothing.
 */
function headThatBlocks(scene: Scene): readonly FlownPermit[] {
  const head = standingPermits(scene)[0]
  if (head?.pod?.ready !== true) return []
  const inFront = scene.permits.slice(0, scene.permits.indexOf(head))
  const taken = new Set(inFront.filter(isUnsettled).map(({ permit }) => permit.node))
  const isFull = sizeWithout(taken, head.permit.node) >= scene.record.limit
  const placed = nodesBeingTaken([head, ...inFront, ...scene.permits.filter(({ isSent }) => isSent)])
  const waits = (node: NodeView): boolean => node.ready && !placed.has(node.name) && (!isFull || taken.has(node.name))
  return scene.tally.broken.some(waits) ? [head] : []
}

/**
 * Where the nodes in flight use the limit up and some of them run a broken old pod, of a version that never came up: those
 * on which a pod may be deleted again (F4), and nothing else is worth a permit. All of them while they are no more than
 * the limit, else the one of the last permit whose pod is gone. Null where no node in flight runs such a pod.
 */
function nodesToTakeAgain(scene: Scene): readonly NodeView[] | null {
  const gone = scene.permits.filter(isGone).map(({ permit }) => permit.node)
  const nodes = new Set(gone)
  if (nodes.size < scene.record.limit) return null
  const broken = [...nodes].flatMap((name) => brokenOldNode(scene, name) ?? [])
  if (broken.length === 0) return null
  return nodes.size === scene.record.limit ? broken : broken.filter(({ name }) => name === gone.at(-1))
}

function brokenOldNode(scene: Scene, name: string): NodeView | undefined {
  const node = nodeInView(scene.view.fleet, name)
  return node !== undefined && isTakeable(scene, name) && isOldNode(scene.view, scene.record, name) && isBroken(node) ? node : undefined
}

/** F7: the permits of other nodes, where the first that stands is one of them: behind it nothing could be executed. */
function permitsInTheWay(scene: Scene, again: readonly NodeView[]): readonly FlownPermit[] {
  const names = new Set(again.map(({ name }) => name))
  const standing = standingPermits(scene)
  const [head] = standing
  if (head === undefined || names.size === 0 || names.has(head.permit.node)) return []
  return standing.filter(({ permit }) => !names.has(permit.node))
}

function standingPermits(scene: Scene): readonly FlownPermit[] {
  return scene.permits.filter(({ state, isSent }) => state === 'standing' && !isSent)
}

/** The next write of the record, or null while none is worth its cost. Settles ride along with the next append (F3). */
function permitChange(scene: Scene, again: readonly NodeView[] | null): PermitChange | null {
  const gone = scene.permits.filter(({ state }) => state === 'settled' || state === 'dead' || state === 'left')
  const standing = scene.permits.filter(({ state }) => state === 'standing' || state === 'unseen')
  const cannotWait = mustLeaveNow(scene, gone)
  if (!cannotWait && standing.length > LOW_WATER) return null
  const leaving = [...gone, ...repeatedPermits(scene)]
  const kept = scene.permits.length - leaving.length
  const append = again === null ? permitsToAppend(scene, scene.tally.old, kept) : permitsToTakeAgain(scene, again, kept)
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
function permitsToTakeAgain(scene: Scene, again: readonly NodeView[], kept: number): readonly NewPermit[] {
  const { limit } = scene.record
  return permitsToAppend(scene, again, Math.min(kept, limit + permitSlack(limit) - 1))
}

/** F3: old pods on nodes that can be taken, without a permit, in G5 order; no more than the batch lacks or the record holds. */
function permitsToAppend(scene: Scene, from: readonly NodeView[], kept: number): readonly NewPermit[] {
  const { limit } = scene.record
  const count = Math.min(scene.lack, limit + permitSlack(limit) - kept)
  if (count <= 0) return []
  const permitted = nodesBeingTaken(scene.permits)
  const free = from.filter((node) => !permitted.has(node.name))
  return chooseCandidates(scene, free, count).map(({ node, pod }) => ({
    permit: { node: node.name, podUid: pod.uid, podResourceVersion: pod.resourceVersion },
    pod,
  }))
}

/** While nothing of the budget is left, the broken come first: a Ready one in front of them would be withdrawn again (F7). */
function chooseCandidates(scene: Scene, free: readonly NodeView[], count: number): readonly Candidate[] {
  const revisions = { canary: scene.record.revision, stable: scene.view.announcement.stableRevision }
  if (hasBudgetLeft(scene)) return firstCandidates(free, revisions, count)
  const broken = firstCandidates(free.filter(isBroken), revisions, count)
  const others = free.filter((node) => !isBroken(node))
  return [...broken, ...firstCandidates(others, revisions, count - broken.length)]
}

function hasBudgetLeft(scene: Scene): boolean {
  const down = nodesDown(scene)
  for (const flown of scene.permits) if (isUnsettled(flown)) down.add(flown.permit.node)
  return down.size < scene.record.limit
}

/** A settled permit on whose node another old pod stands: the node needs a new permit. */
function isOldAgain(scene: Scene, { permit }: FlownPermit): boolean {
  return isOldNode(scene.view, scene.record, permit.node)
}

/** F2: the versions of every pod that the change looked at. */
function restsOn(scene: Scene, remove: readonly FlownPermit[], append: readonly { readonly pod: FleetPod }[]): readonly string[] {
  const onNodes = remove.flatMap(({ permit }) => nodeInView(scene.view.fleet, permit.node)?.pods ?? [])
  return [...onNodes, ...append.map(({ pod }) => pod)].map((pod) => pod.resourceVersion)
}

/** Settling goes on while a record is being voided or is stopped (F8). */
function settleOnly(scene: Scene): PassPlan {
  const gone = scene.permits.filter(({ state }) => state === 'settled' || state === 'left')
  if (gone.length === 0) return waitFor(scene.permits.length > 0 ? 'availability' : 'opening', scene.tally.nextAvailableMs)
  return { kind: 'changePermits', change: { remove: gone.map(({ permit }) => permit), append: [], restsOn: restsOn(scene, gone, []) } }
}

function waitAsNeeded(scene: Scene): PassPlan {
  const standing = scene.permits.some(({ state }) => state === 'standing')
  const flying = scene.permits.some(({ state }) => state === 'flying')
  return waitFor(standing ? 'budget' : flying ? 'availability' : 'batch', scene.tally.nextAvailableMs)
}

function waitFor(reason: PassWait, wakeAtMs: number | null = null): PassPlan {
  return { kind: 'wait', for: reason, wakeAtMs }
}

function toPermittedPod({ permit, pod }: FlownPermit): PermittedPod {
  if (pod === undefined) throw new Error(`the permit for ${permit.podUid} is planned for without its pod`)
  return { permit, namespace: pod.namespace, podName: pod.name }
}
