import type { Permit } from '@tranche/api-schema'
import { availableFromMs, type FleetPod, isAvailable, nodeInView, type NodeView } from '@tranche/fleet'
import { hasSupersededPod } from '../nodes/old-nodes.ts'
import { type PermitChange, permitSlack } from '../record/flight-record.ts'
import { isOfLostPod } from '../record/lost-permits.ts'
import type { Candidate } from './candidate-order.ts'
import { chooseCandidates } from './choose-candidates.ts'
import { isAgeing, isUnknownForPermit } from '../nodes/node-check.ts'
import { blockedNodes, isUpToDate } from './blocked-nodes.ts'
import {
  type TrackedPermit,
  isOldNode,
  isOver,
  isUnsettled,
  knownChecks,
  mayGetPermit,
  permittedNodes,
  type FenceState,
} from './fence-state.ts'

/** Standing permits at which new ones are appended: one write then serves as many nodes as the record has slack for. */
const LOW_WATER = 2

/**
 * Where the permits already fill the limit, a new one could not be used before one of them settles (F4), so it is appended when none is
 * standing. A check or a spread rule may keep a few standing permits while others could go.
 */
function lowWater(fence: FenceState): number {
  const isFull = fence.permits.filter(isUnsettled).length >= fence.record.limit
  return isFull && !knownChecks(fence).isAsked && fence.scope.rules.spread.length === 0 ? 0 : LOW_WATER
}

/** The next write of the record; null while none is worth its cost. Settled permits leave with the next append (F3). */
export function permitChange(fence: FenceState, again: readonly NodeView[] | null): PermitChange | null {
  const gone = fence.permits.filter((tracked) => isOver(tracked) || tracked.state === 'dead')
  const standing = fence.permits.filter(({ state }) => state === 'standing' || state === 'unseen')
  const isNews = !isUpToDate(fence, blockedNodes(fence, []))
  const cannotWait = isNews || mustLeaveNow(fence, gone)
  if (!cannotWait && standing.length > lowWater(fence)) return null
  const leaving = [...gone, ...repeatedPermits(fence)]
  const stay = fence.permits.filter((tracked) => !leaving.includes(tracked))
  const append = again === null ? permitsToAppend(fence, fence.tally.old, stay) : permitsToTakeAgain(fence, again, stay)
  if (!cannotWait && append.length === 0) return null
  const blocked = blockedNodes(
    fence,
    append.map(({ permit }) => permit.node),
  )
  return {
    remove: leaving.map(({ permit }) => permit),
    append: append.map(({ permit }) => permit),
    restsOn: restsOn(fence, leaving, append),
    ...(!isUpToDate(fence, blocked) && { blocked }),
  }
}

/** Permits whose pod is gone and which another permit of the same node follows, with no standing one between them. See L7. */
function repeatedPermits(fence: FenceState): readonly TrackedPermit[] {
  const later = new Set<string>()
  return fence.permits.toReversed().filter((tracked) => {
    if (tracked.state === 'standing' || tracked.state === 'unseen') later.clear()
    if (tracked.state !== 'flying') return false
    const isRepeated = later.has(tracked.permit.node)
    later.add(tracked.permit.node)
    return isRepeated
  })
}

/**
 * A settled permit may stay while nothing else needs a write: the record has room for it. It leaves when it keeps its node from a new permit, or
 * some time after all have settled.
 */
function mustLeaveNow(fence: FenceState, gone: readonly TrackedPermit[]): boolean {
  const settled = gone.filter(({ state }) => state === 'settled')
  if (settled.length < gone.length || settled.some((tracked) => isOldAgain(fence, tracked))) return true
  const allLeaveMs = allLeaveAtMs(fence)
  return allLeaveMs !== null && allLeaveMs <= fence.view.monotonicMs
}

/**
 * Time (ms) for which permits that have all settled wait for an append: the next step often follows at once. A controller that opens it is not
 * overtaken by their removal either.
 */
const NEXT_APPEND_MS = 1_000

/** When (monotonic) the permits leave without an append; null while one has not settled. At once where no old pod is left. */
export function allLeaveAtMs({ permits, availability, tally, view }: FenceState): number | null {
  if (permits.length === 0 || permits.some(({ state }) => state !== 'settled')) return null
  if (tally.old.length === 0) return view.monotonicMs
  const times = permits.flatMap(({ permit }) => (nodeInView(view.fleet, permit.node)?.pods ?? []).map((pod) => sinceMs(pod, availability)))
  return Math.max(0, ...times) + NEXT_APPEND_MS
}

/** Since when (monotonic) the pod has been available; 0 where it is not, or its times are not known. */
function sinceMs(pod: FleetPod, { minReadyMs, monotonicMs }: FenceState['availability']): number {
  return isAvailable(pod, minReadyMs, monotonicMs) ? (availableFromMs(pod, minReadyMs) ?? 0) : 0
}

interface NewPermit {
  readonly permit: Permit
  readonly pod: FleetPod
}

/** There is always room for one, however far the limit has fallen below the record's permits (L19). */
function permitsToTakeAgain(fence: FenceState, again: readonly NodeView[], stay: readonly TrackedPermit[]): readonly NewPermit[] {
  return permitsToAppend(fence, again, stay, 1)
}

/** F3: old pods without a permit on nodes that can be taken, in G5 order; at most what the batch lacks or the record has room for. */
function permitsToAppend(fence: FenceState, from: readonly NodeView[], stay: readonly TrackedPermit[], atLeast = 0): readonly NewPermit[] {
  const { limit } = fence.record
  const count = Math.max(atLeast, limit + permitSlack(limit) - stay.length)
  if (count <= 0) return []
  const permitted = permittedNodes(fence.permits)
  const free = from.filter(({ name }) => !permitted.has(name) && mayGetPermit(fence, name))
  return knownFirst(fence, chooseCandidates(fence, { free, stay, count })).map(({ node, pod }) => ({
    permit: { node: node.name, podUid: pod.uid, podResourceVersion: pod.resourceVersion, ...wasBad(fence, node) },
    pod,
  }))
}

/**
 * Of many nodes, those in front that are known to be ready get their permits before their readings are out of date. Else the last reading could
 * always come too late for the first.
 */
function knownFirst(fence: FenceState, chosen: readonly Candidate[]): readonly Candidate[] {
  const checks = knownChecks(fence)
  const unknownAt = chosen.findIndex(({ node }) => isUnknownForPermit(checks, node.name))
  const known = chosen.slice(0, Math.max(0, unknownAt))
  return known.some(({ node }) => isAgeing(checks, node.name)) ? known : chosen
}

/**
 * A failure on a node that was bad before is no evidence against the new version (docs/reference/policy.md, failure). Where a version that was
 * never stable has not become available since its deletion of the pod, the node is as bad as before that deletion. Without minReadySeconds: a
 * process that has just started takes no pod for available before that time, however long the pod was Ready.
 */
function wasBad({ permits, revisions }: FenceState, node: NodeView): Pick<Permit, 'wasBad'> {
  const last = permits.findLast(({ permit, state }) => permit.node === node.name && state === 'flying' && !isOfLostPod(permit))
  const isStarting = last !== undefined && hasSupersededPod(node, revisions)
  const isBad = isStarting ? last.permit.wasBad === true : !node.pods.some((pod) => pod.ready && !pod.terminating)
  return node.ready && !isBad ? {} : { wasBad: true }
}

/** Whether the node of a settled permit runs another old pod: the node needs a new permit. */
function isOldAgain(fence: FenceState, { permit }: TrackedPermit): boolean {
  return isOldNode(fence.view, fence.record, permit.node)
}

/** F2: the versions of every pod that the change depends on. See L2, L16. */
export function restsOn(
  fence: FenceState,
  remove: readonly TrackedPermit[],
  append: readonly { readonly pod: FleetPod }[],
): readonly string[] {
  const onNodes = remove.flatMap(({ permit }) => nodeInView(fence.view.fleet, permit.node)?.pods ?? [])
  return [...onNodes, ...append.map(({ pod }) => pod)].map((pod) => pod.resourceVersion)
}
