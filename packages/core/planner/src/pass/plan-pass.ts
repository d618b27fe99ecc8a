import type { FlightRecord, Permit } from '@tranche/api-schema'
import type { NodeView } from '@tranche/fleet'
import type { PermitChange } from '@tranche/flight'
import { compareResourceVersions } from '@tranche/kube-types'
import { scopeInRecord } from '../nodes/batch-scope.ts'
import { executablePermits, isReadyToGo } from './executable-permits.ts'
import type { PassView } from './pass-view.ts'
import { nodesToTakeAgain } from './nodes-to-take-again.ts'
import { permitChange, restsOn } from './permit-change.ts'
import { sizeWithout } from './budget.ts'
import { nextReadMs, type Questions, questionsOf } from './questions.ts'
import {
  type TrackedPermit,
  isGone,
  isOver,
  isTakeable,
  isUnsettled,
  permittedNodes,
  toFenceState,
  type FenceState,
  standingPermits,
} from './fence-state.ts'
import { permitsHeldBySpread, wouldGoOn } from './spread-holds.ts'

/** A permit and its pod. */
export interface PermittedPod {
  readonly permit: Permit
  readonly namespace: string
  readonly podName: string
}

/** The next action of an executor's pass. */
export type PassPlan =
  /** Delete these pods, each with its permit's preconditions; the deletes are independent (F4). */
  | { readonly kind: 'execute'; readonly pods: readonly PermittedPod[] }
  /** One write of the record (F3, F5, F6). */
  | { readonly kind: 'changePermits'; readonly change: PermitChange }
  /** Read these pods and nodes from the API server, keep the results, and pass again (F6). */
  | ({ readonly kind: 'confirm' } & Questions)
  /** Touch these pods, then remove the permits of those that are still standing from the record (F7). */
  | { readonly kind: 'withdraw'; readonly pods: readonly PermittedPod[] }
  /** Wait. `wakeAtMs` (monotonic) where only the clock ends the wait; null: a watch event does. */
  | { readonly kind: 'wait'; readonly for: PassWait; readonly wakeAtMs: number | null }

/** What a pass waits for. A watch event ends each wait; the clock also ends `availability`. */
export type PassWait = 'record' | 'podWatch' | 'opening' | 'agreement' | 'availability' | 'budget' | 'batch' | 'verdict'

/**
 * Decides the next action of one executor for one DaemonSet. Pure: the same view gives the same plan.
 *
 * Keeps G1 to G5 and G8 together with the record's compare-and-swap and the preconditions of each delete. Rules F1 to F7 are
 * named beside the lines that keep them.
 */
export function planPass(view: PassView): PassPlan {
  const { record } = view
  if (record === undefined) return waitFor('record')
  // F2: a view older than the record's watermark might miss a pod that was deleted for the record.
  if (compareResourceVersions(view.podsSeen, record.watermark) < 0) return waitFor('podWatch')
  const fence = toFenceState(view, record)
  if (record.state !== 'open') return settleOnly(fence)
  if (!agrees(view, record)) return waitFor('agreement')

  const unwanted = permitsNotWanted(fence)
  if (unwanted.length > 0) return { kind: 'withdraw', pods: unwanted.map(toPermittedPod) }
  if (view.isBad) return waitFor('verdict', fence.tally.nextAvailableMs)
  const executable = executablePermits(fence)
  if (executable.length > 0) return { kind: 'execute', pods: executable.map(toPermittedPod) }
  const questions = questionsOf(fence)
  if (questions !== null) return { kind: 'confirm', ...questions }
  const again = nodesToTakeAgain(fence)
  const inTheWay = again === null ? headThatBlocks(fence) : permitsInTheWay(fence, again)
  const blocking = inTheWay.length > 0 ? inTheWay : permitsHeldBySpread(fence)
  if (blocking.length > 0) return { kind: 'withdraw', pods: blocking.map(toPermittedPod) }
  const change = permitChange(fence, again)
  return change === null ? waitAsNeeded(fence) : { kind: 'changePermits', change }
}

/** F1: the record permits, the DaemonSet publishes; executors act only where both agree. */
export function agrees(view: PassView, record: FlightRecord): boolean {
  const said = view.published
  return (
    record.state === 'open' &&
    said.uid === record.workloadUid &&
    said.controlledBy === view.releaseUid &&
    said.canaryRevision === record.revision &&
    said.partition === record.partition &&
    !said.paused &&
    said.strategy === 'OnDelete' &&
    said.generation === record.generation &&
    said.observedGeneration === record.generation &&
    scopeInRecord(record.scope, view.nodes) !== null
  )
}

/** F7: standing permits of nodes that can no longer be taken; else the last ones that exceed what the batch lacks. */
function permitsNotWanted(fence: FenceState): readonly TrackedPermit[] {
  const standing = standingPermits(fence)
  const unwanted = standing.filter((tracked) => !isReadyToGo(fence, tracked))
  if (unwanted.length > 0) return unwanted
  return fence.lack < 0 ? standing.slice(fence.lack) : []
}

/**
 * F7: the first standing permit, where nothing may be executed: it waits because of U, and a broken old pod has no permit
 * before it. A Ready pod in U needs none: time makes it available. A pod that may not be taken, such as one on an excluded
 * node, would never get one. Where D alone uses up the limit, only a pod on a node of D could go before the first permit:
 * deleting again there adds nothing.
 */
function headThatBlocks(fence: FenceState): readonly TrackedPermit[] {
  const head = standingPermits(fence)[0]
  if (head?.pod?.ready !== true) return []
  const inFront = fence.permits.slice(0, fence.permits.indexOf(head))
  const taken = new Set(inFront.filter(isUnsettled).map(({ permit }) => permit.node))
  const isFull = sizeWithout(taken, head.permit.node) >= fence.record.limit
  const placed = permittedNodes([head, ...inFront, ...fence.permits.filter(({ isSent }) => isSent)])
  const waits = ({ name }: NodeView): boolean => isTakeable(fence, name) && !placed.has(name) && (!isFull || taken.has(name))
  return fence.tally.broken.some(waits) && wouldGoOn(fence, standingPermits(fence)) ? [head] : []
}

/** F7: standing permits of nodes other than those to delete on again: nothing behind them could be executed. */
function permitsInTheWay(fence: FenceState, again: readonly NodeView[]): readonly TrackedPermit[] {
  const names = new Set(again.map(({ name }) => name))
  return names.size === 0 ? [] : standingPermits(fence).filter(({ permit }) => !names.has(permit.node))
}

/** Permits keep settling while a record is being revoked or is stopped (F8). */
function settleOnly(fence: FenceState): PassPlan {
  if (isOutdated(fence)) return waitFor('agreement')
  const questions = questionsOf(fence)
  if (questions !== null) return { kind: 'confirm', ...questions }
  const gone = fence.permits.filter(isOver)
  if (gone.length === 0) return waitFor(fence.permits.length > 0 ? 'availability' : 'opening', wakeMs(fence))
  return { kind: 'changePermits', change: { remove: gone.map(({ permit }) => permit), append: [], restsOn: restsOn(fence, gone, []) } }
}

/** F6: our DaemonSet is older than the record, and so are its minReadySeconds and placement rules. */
function isOutdated({ view: { published }, record }: FenceState): boolean {
  return published.uid === record.workloadUid && published.generation < record.generation
}

function waitAsNeeded(fence: FenceState): PassPlan {
  const standing = fence.permits.some(({ state }) => state === 'standing')
  return waitFor(standing ? 'budget' : fence.permits.some(isGone) ? 'availability' : 'batch', wakeMs(fence))
}

/** When (monotonic) the clock alone makes a pod available, or allows the next live read. */
function wakeMs(fence: FenceState): number | null {
  const { nextAvailableMs } = fence.tally
  const readMs = nextReadMs(fence)
  return readMs === null || nextAvailableMs === null ? (readMs ?? nextAvailableMs) : Math.min(readMs, nextAvailableMs)
}

function waitFor(reason: PassWait, wakeAtMs: number | null = null): PassPlan {
  return { kind: 'wait', for: reason, wakeAtMs }
}

function toPermittedPod({ permit, pod }: TrackedPermit): PermittedPod {
  if (pod === undefined) throw new Error(`the permit for ${permit.podUid} is planned for without its pod`)
  return { permit, namespace: pod.namespace, podName: pod.name }
}
