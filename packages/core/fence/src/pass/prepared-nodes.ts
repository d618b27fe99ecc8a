import type { NodeView } from '@tranche/fleet'
import { isBlockedUntilDue, isKeptFromPermit, type Preparation, preparationId } from '../nodes/node-check.ts'
import { BLOCKED_LISTED } from './blocked-nodes.ts'
import { chooseCandidates } from './choose-candidates.ts'
import { isBroken } from './node-tally.ts'
import { executablePermits } from './executable-permits.ts'
import {
  type FenceState,
  isOldNode,
  isPreparedAhead,
  isTakeable,
  isUnsettled,
  knownChecks,
  mayGetPermit,
  permittedNodes,
  preparationsIn,
  type TrackedPermit,
} from './fence-state.ts'

/**
 * Nodes without a permit to prepare now, in the order in which they get permits. At most as many are prepared at a time as the policy says,
 * and no more than the batch lacks. Nodes whose preparation has failed are asked why. While ten nodes are blocked, only these are tried again: the
 * fault is likely not theirs. Nodes to delete on again, whose pods are broken, are still tried.
 *
 * @param due nodes to delete on again, which are prepared first; null without any
 */
export function nodesToPrepare(fence: FenceState, due: readonly NodeView[] | null): readonly string[] {
  const wanting = due === null ? fence : afterMakingWay(fence, due)
  const { view, permits, lack } = wanting
  const most = Math.min(view.preparation?.ahead ?? 0, lack)
  if (most <= 0) return []
  const permitted = permittedNodes(fence.permits)
  const waiting = preparationsIn(view).filter(({ node, isAhead, isStale }) => {
    return isAhead && !isStale && !permitted.has(node) && !isBlockedUntilDue(knownChecks(wanting), node)
  })
  const failed = waiting.filter(({ state }) => state === 'failed')
  if (failed.length > 0) return failed.map(({ node }) => node)
  const candidates = (due ?? wanting.tally.old).filter(({ name }) => !permitted.has(name))
  const isAnyOldNode = due === null
  const count = most - countPrepared(wanting, waiting, { candidates, isAnyOldNode })
  if (count <= 0) return []
  const begun = new Set(waiting.map(({ node }) => node))
  const free = candidates.filter(({ name }) => !begun.has(name) && mayBePrepared(wanting, name))
  const blocked = due?.every(isBroken) === true ? new Set<string>() : blockedAhead(wanting, permitted)
  const tried = blocked.size >= BLOCKED_LISTED ? free.filter(({ name }) => blocked.has(name)) : free
  return chooseCandidates(wanting, { free: tried, stay: permits, count }).map(({ node }) => node.name)
}

/**
 * Those of `behind` to prepare before standing permits make way for them. Nothing else would prepare them where the batch lacks no other node, or
 * while prepared nodes take the places and wait for permits.
 *
 * @param behind nodes for which standing permits wait, or which could be updated in their place
 * @returns null without any, and while one of them may get a permit or a permit is executable
 */
export function nodesToPrepareBehind(fence: FenceState, behind: (fence: FenceState) => readonly NodeView[]): readonly NodeView[] | null {
  if ((fence.view.preparation?.ahead ?? 0) <= 0) return null
  const permitted = permittedNodes(fence.permits)
  const nodes = behind(fence).filter(({ name }) => !permitted.has(name))
  if (nodes.length === 0 || nodes.some(({ name }) => mayGetPermit(fence, name))) return null
  return executablePermits(fence).length > 0 ? null : nodes
}

/**
 * Standing permits of other nodes make way for a node to delete on again, once it is prepared: they use up neither the batch nor a spread rule.
 * Where none of the nodes due is to be taken now, the batch lacks no more nodes than before.
 */
function afterMakingWay(fence: FenceState, due: readonly NodeView[]): FenceState {
  const names = new Set(due.map(({ name }) => name))
  const permits = fence.permits.filter(({ state, permit }) => state !== 'standing' || names.has(permit.node))
  return { ...fence, permits, lack: due.length === 0 ? fence.lack : Math.max(fence.lack, 1) }
}

/** Nodes that may get the next permits. */
interface NextNodes {
  readonly candidates: readonly NodeView[]
  /** Whether they are all old nodes without a permit, not only those to delete on again. */
  readonly isAnyOldNode: boolean
}

/**
 * Number of nodes that are being prepared, or are prepared and would get a permit. A prepared node that can get no permit keeps no
 * place from others: a spread rule holds it back, or pods on other nodes are to be deleted again first.
 */
function countPrepared(fence: FenceState, waiting: readonly Preparation[], { candidates, isAnyOldNode }: NextNodes): number {
  if (isAnyOldNode && fence.scope.rules.spread.length === 0) return waiting.length
  const names = new Set(waiting.map(({ node }) => node))
  const free = candidates.filter(({ name }) => names.has(name))
  const chosen = chooseCandidates(fence, { free, stay: fence.permits, count: free.length })
  return Math.max(chosen.length, waiting.filter(({ state }) => state === 'begun').length)
}

function mayBePrepared(fence: FenceState, node: string): boolean {
  return !isKeptFromPermit(knownChecks(fence), node) && !isPreparedAhead(fence, node)
}

/** Old nodes without a permit that may be taken and whose last attempt of a preparation failed. Readings of others may be out of date. */
function blockedAhead(fence: FenceState, permitted: ReadonlySet<string>): ReadonlySet<string> {
  const { checks } = fence.view
  const isBlocked = (name: string): boolean => checks.get(name)?.check.kind === 'blocked' && checks.get(name)?.purpose === 'ahead'
  const blocked = fence.tally.old.filter(({ name }) => isBlocked(name) && !permitted.has(name) && isTakeable(fence, name))
  return new Set(blocked.map(({ name }) => name))
}

/** Preparations that nothing needs any more, without those that this process undoes already. */
export function preparationsToUndo(fence: FenceState): readonly Preparation[] {
  const { view, permits } = fence
  const unsettled = nodesOf(permits.filter(isUnsettled))
  const unused = nodesOf(permits.filter(({ state }) => state === 'standing' || state === 'unseen'))
  const kept = keptWhileBlocked(fence)
  return preparationsIn(view).filter((preparation) => {
    const { node, isAhead } = preparation
    // Preparations that begin before the permit are over when the pod is deleted. They may not take the room of the new pod.
    const hasPermit = (isAhead ? unused : unsettled).has(node)
    return (
      view.undoneLately?.has(preparationId(preparation)) !== true &&
      !isNeeded(fence, preparation, { hasPermit, kept }) &&
      mayBeUndone(fence, preparation)
    )
  })
}

/** Preparations that are due to be renewed, because the permit of their node is unsettled, without those that this process renewed a moment ago. */
export function preparationsToRenew(fence: FenceState): readonly Preparation[] {
  const { view, permits } = fence
  const due = preparationsIn(view).filter((preparation) => {
    const { renewAtMs } = preparation
    return typeof renewAtMs === 'number' && renewAtMs <= view.monotonicMs && view.renewedLately?.has(preparationId(preparation)) !== true
  })
  if (due.length === 0) return []
  const unsettled = nodesOf(permits.filter(isUnsettled))
  return due.filter(({ node }) => unsettled.has(node))
}

/** The last preparation of a node keeps other programs off it until the others are undone. */
function mayBeUndone({ view }: FenceState, { node, isLast = false }: Preparation): boolean {
  return !isLast || (view.prepared?.get(node) ?? []).every((other) => other.isLast === true)
}

function nodesOf(permits: readonly TrackedPermit[]): ReadonlySet<string> {
  return new Set(permits.map(({ permit }) => permit.node))
}

/** Minimum number of nodes that stay prepared while another check keeps them from a permit. */
const KEPT_PREPARED = 10

/**
 * Nodes prepared ahead that another check keeps from a permit: as many as the policy prepares ahead, or {@link KEPT_PREPARED}, stay prepared. Each
 * question about them would prepare them again. An answer for `ahead` is of the preparation itself, and keeps nothing.
 */
function keptWhileBlocked(fence: FenceState): ReadonlySet<string> {
  const { checks, preparation } = fence.view
  const isKept = ({ node, state }: Preparation): boolean => state === 'ready' && checks.get(node)?.purpose !== 'ahead'
  const blocked = preparationsIn(fence.view).filter((done) => isBlockedUntilDue(knownChecks(fence), done.node) && isKept(done))
  const most = Math.max(preparation?.ahead ?? 0, KEPT_PREPARED)
  return new Set(blocked.map(({ node }) => node).slice(0, most))
}

/** Facts about the node of a preparation. */
interface PreparedNodeFacts {
  readonly hasPermit: boolean
  readonly kept: ReadonlySet<string>
}

function isNeeded(fence: FenceState, { node, isAhead, isStale, state }: Preparation, { hasPermit, kept }: PreparedNodeFacts): boolean {
  if (isStale) return false
  // A failed preparation may stay so until it is undone, and is then begun again.
  if (hasPermit) return state !== 'failed' || !isBlockedUntilDue(knownChecks(fence), node)
  if (!isAhead || fence.record.state !== 'open') return false
  if (isBlockedUntilDue(knownChecks(fence), node) && !kept.has(node)) return false
  return isOldNode(fence.view, fence.record, node) && isTakeable(fence, node)
}
