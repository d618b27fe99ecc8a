import type { FlightRecord, Permit } from '@tranche/api-schema'
import { type FleetPod, nodeInView } from '@tranche/fleet'
import { type Availability, type PermitChange, permitId, permitSlack, permitState, type PermitState } from '@tranche/flight'
import { compareResourceVersions } from '@tranche/kube-types'
import { firstCandidates } from './candidate-order.ts'
import { isOld, type NodeTally, tallyNodes } from './node-tally.ts'
import type { PassView } from './pass-view.ts'

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

/** How many standing permits may be left before new ones are appended: one write then serves about eight nodes. */
const LOW_WATER = 2

/** How many settled permits may stay in the record when nothing else needs a write. */
const SETTLED_HIGH_WATER = 8

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

  const withdrawn = permitsToWithdraw(scene)
  if (withdrawn.length > 0) return { kind: 'withdraw', pods: withdrawn.map(toPermittedPod) }
  const executable = scene.permits.filter((flown, at) => mayExecute(scene, flown, at))
  if (executable.length > 0) return { kind: 'execute', pods: executable.map(toPermittedPod) }
  const change = permitChange(scene)
  return change === null ? waitAsNeeded(scene) : { kind: 'changePermits', change }
}

/** Everything that the rules look at, worked out once. */
interface Scene {
  readonly view: PassView
  readonly record: FlightRecord
  readonly availability: Availability
  readonly tally: NodeTally
  /** In the order of the record. */
  readonly permits: readonly FlownPermit[]
  /** Nodes that the batch should have on the revision: G3's size. */
  readonly size: number
  /** Nodes that run, or will come back on, the revision, or have a permit: what counts against the size. */
  readonly onTheWay: ReadonlySet<string>
}

interface FlownPermit {
  readonly permit: Permit
  readonly state: PermitState
  /** The pod of the permit, while it is in our view. */
  readonly pod: FleetPod | undefined
}

function readScene(view: PassView, record: FlightRecord): Scene {
  const availability: Availability = { minReadyMs: view.announcement.minReadySeconds * 1000, monotonicMs: view.monotonicMs }
  const tally = tallyNodes(view.fleet, record.revision, availability.minReadyMs, availability.monotonicMs)
  const permits = record.permits.map((permit): FlownPermit => {
    const node = nodeInView(view.fleet, permit.node)
    return {
      permit,
      state: permitState(permit, node, availability),
      pod: node?.pods.find((pod) => pod.uid === permit.podUid),
    }
  })
  const desiredPermits = permits.filter(({ permit }) => nodeInView(view.fleet, permit.node)?.desired === true)
  const onTheWay = new Set([...tally.onRevision, ...desiredPermits.map(({ permit }) => permit.node)])
  return { view, record, availability, tally, permits, size: Math.max(0, tally.desired - record.partition), onTheWay }
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

/** F4: may this permit, the one at `at`, be executed now? */
function mayExecute(scene: Scene, flown: FlownPermit, at: number): boolean {
  const { permit, pod } = flown
  if (flown.state !== 'standing' || pod === undefined || scene.view.sent.has(permitId(permit))) return false
  if (!isOld(pod, scene.record.revision) || !isTakeable(scene, permit.node)) return false
  // D: nodes of earlier unsettled permits, executed or not; the own node is excepted.
  const taken = new Set<string>()
  for (const earlier of scene.permits.slice(0, at)) if (isUnsettled(earlier)) taken.add(earlier.permit.node)
  taken.delete(permit.node)
  if (taken.size >= scene.record.limit) return false
  // Ready costs budget as if available: time alone may make it so, and no resourceVersion moves then.
  return !pod.ready || downBeside(scene, taken, permit.node) < scene.record.limit
}

/** |D ∪ U| without the node itself. */
function downBeside(scene: Scene, taken: ReadonlySet<string>, own: string): number {
  const down = new Set(taken)
  for (const other of scene.permits) if (other.state === 'flying' || other.state === 'left') down.add(other.permit.node)
  for (const node of scene.tally.unavailable) down.add(node)
  down.delete(own)
  return down.size
}

/** F6: a permit of a node that is no longer desired counts as unsettled until the record says otherwise. */
function isUnsettled(flown: FlownPermit): boolean {
  return flown.state !== 'settled'
}

/** A node whose pod may be taken now: desired, and its kubelet answers. */
function isTakeable(scene: Scene, name: string): boolean {
  const node = nodeInView(scene.view.fleet, name)
  return node !== undefined && node.desired && node.ready
}

/**
 * F7: standing permits that must go: of nodes that cannot be taken any more; as many of the last ones as exceed what
 * the batch lacks; and the head, when it waits because of U while an old pod in U has no place in front of it.
 */
function permitsToWithdraw(scene: Scene): readonly FlownPermit[] {
  const standing = scene.permits.filter((flown) => flown.state === 'standing' && !scene.view.sent.has(permitId(flown.permit)))
  const unwanted = standing.filter(
    ({ permit, pod }) => !isTakeable(scene, permit.node) || (pod !== undefined && !isOld(pod, scene.record.revision)),
  )
  if (unwanted.length > 0) return unwanted
  const surplus = scene.onTheWay.size - scene.size
  if (surplus > 0) return standing.slice(-surplus)
  const head = standing[0]
  return head !== undefined && blocksAnUnhealthyPod(scene, head) ? [head] : []
}

function blocksAnUnhealthyPod(scene: Scene, head: FlownPermit): boolean {
  const at = scene.permits.indexOf(head)
  if (head.pod?.ready !== true || mayExecute(scene, head, at)) return false
  const inFront = new Set(scene.permits.slice(0, at + 1).map(({ permit }) => permit.node))
  return scene.tally.old.some((node) => node.ready && scene.tally.unavailable.has(node.name) && !inFront.has(node.name))
}

/** The next write of the record, or null while none is worth its cost. */
function permitChange(scene: Scene): PermitChange | null {
  const settled = scene.permits.filter(({ state }) => state === 'settled')
  const dead = scene.permits.filter(({ state }) => state === 'dead')
  const left = scene.permits.filter(({ state }) => state === 'left')
  const standing = scene.permits.filter(({ state }) => state === 'standing' || state === 'unseen')
  const remove = [...settled, ...dead, ...left]
  const append = permitsToAppend(scene, scene.permits.length - remove.length)

  const runsLow = append.length > 0 && standing.length <= LOW_WATER
  const settles =
    settled.length === scene.permits.length || settled.length >= SETTLED_HIGH_WATER || settled.some((flown) => isOldAgain(scene, flown))
  if (!runsLow && dead.length === 0 && left.length === 0 && !(settled.length > 0 && settles)) return null
  return { remove: remove.map(({ permit }) => permit), append: append.map(({ permit }) => permit), restsOn: restsOn(scene, remove, append) }
}

/** F3: old pods on nodes that can be taken, without a permit, in G5 order; no more than the batch lacks or the record holds. */
function permitsToAppend(scene: Scene, kept: number): readonly { readonly permit: Permit; readonly pod: FleetPod }[] {
  const { limit, revision } = scene.record
  const lack = scene.size - scene.onTheWay.size
  const room = limit + permitSlack(limit) - kept
  const permitted = new Set(scene.permits.map(({ permit }) => permit.node))
  const free = scene.tally.old.filter((node) => !permitted.has(node.name))
  const revisions = { canary: revision, stable: scene.view.announcement.stableRevision }
  return firstCandidates(free, revisions, Math.min(lack, room)).map(({ node, pod }) => ({
    permit: { node: node.name, podUid: pod.uid, podResourceVersion: pod.resourceVersion },
    pod,
  }))
}

/** A settled permit on whose node another old pod stands: the node needs a new permit. */
function isOldAgain(scene: Scene, { permit }: FlownPermit): boolean {
  return !scene.tally.onRevision.has(permit.node)
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
