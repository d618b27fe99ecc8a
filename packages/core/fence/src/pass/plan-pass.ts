import type { FlightRecord, Permit } from '@tranche/api-schema'
import type { NodeView } from '@tranche/fleet'
import type { PermitChange } from '../record/flight-record.ts'
import { compareResourceVersions } from '@tranche/kube-types'
import { scopeInRecord } from '../nodes/batch-scope.ts'
import { executablePermits, isReadyToGo } from './executable-permits.ts'
import type { PassView } from './pass-view.ts'
import { nodesDueAgain, nodesToTakeAgain } from './nodes-to-take-again.ts'
import { allLeaveAtMs, permitChange, restsOn } from './permit-change.ts'
import { nextReadMs, type Questions, questionsOf } from './questions.ts'
import { type TrackedPermit, isGone, isOver, knownChecks, toFenceState, type FenceState, standingPermits } from './fence-state.ts'
import {
  type CheckPurpose,
  isBlockedNow,
  isAskedAlready,
  isReadyNow,
  isUnknownForPermit,
  type NodeQuestion,
  type Preparation,
} from '../nodes/node-check.ts'
import { nextCheckMs } from './next-check.ts'
import { headThatGivesWay, heldThatGiveWay, permitsInTheWay, type WayForNodes } from './permits-in-the-way.ts'
import { nodesBehindHead } from './nodes-behind-head.ts'
import { nodesToPrepare, nodesToPrepareBehind, preparationsToRenew, preparationsToUndo } from './prepared-nodes.ts'
import { nodesBehindSpread } from './spread-holds.ts'

/** A permit and its pod. */
export interface PermittedPod {
  readonly permit: Permit
  readonly namespace: string
  readonly podName: string
}

/** A node, and the check that did something on it. */
export type PreparedNode = Pick<Preparation, 'node' | 'check'>

/** The next action of an executor's pass. */
export type PassPlan =
  /** Delete these pods, each with its permit's preconditions; the deletes are independent (F4). */
  | { readonly kind: 'execute'; readonly pods: readonly PermittedPod[] }
  /** Check these nodes for that purpose, keep the answers, and pass again. */
  | { readonly kind: 'checkNodes'; readonly purpose: CheckPurpose; readonly nodes: readonly NodeQuestion[] }
  /** Undo what these checks did on these nodes, and pass again. */
  | { readonly kind: 'undoPreparations'; readonly nodes: readonly PreparedNode[] }
  /** Renew what these checks did on these nodes, and pass again. */
  | { readonly kind: 'renewPreparations'; readonly nodes: readonly PreparedNode[] }
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

/** Name of a rule of {@link passRules}. */
export type PassRuleId =
  | 'awaitRecord'
  | 'awaitPods'
  | 'undoPreparations'
  | 'renewPreparations'
  | 'settleOnly'
  | 'awaitAgreement'
  | 'withdrawUnwanted'
  | 'stopOnVerdict'
  | 'executePermits'
  | 'checkNodes'
  | 'confirmChanges'
  | 'makeWay'
  | 'changePermits'
  | 'prepareAhead'
  | 'waitForChange'

/** One rule of a pass: null where another rule decides. */
export interface PassRule {
  readonly id: PassRuleId
  readonly decide: (facts: PassFacts) => PassPlan | null
}

/** The rules of a pass, in order; docs/contribute/fence.md names the rules of the fence that each keeps. */
export const passRules: readonly PassRule[] = [
  { id: 'awaitRecord', decide: awaitRecord },
  { id: 'awaitPods', decide: awaitPods },
  { id: 'undoPreparations', decide: undoPreparations },
  { id: 'renewPreparations', decide: renewPreparations },
  { id: 'settleOnly', decide: settleOnly },
  { id: 'awaitAgreement', decide: awaitAgreement },
  { id: 'withdrawUnwanted', decide: withdrawUnwanted },
  { id: 'stopOnVerdict', decide: stopOnVerdict },
  { id: 'executePermits', decide: executePermits },
  { id: 'checkNodes', decide: checkNodes },
  { id: 'confirmChanges', decide: confirmChanges },
  { id: 'makeWay', decide: makeWay },
  { id: 'changePermits', decide: changePermits },
  { id: 'prepareAhead', decide: prepareAhead },
  { id: 'waitForChange', decide: waitForChange },
]

/**
 * Decides the next action of one executor for one DaemonSet: the first of {@link passRules} that gives a plan. Pure: the same
 * view gives the same plan.
 *
 * Keeps G1 to G5 and G8 together with the record's compare-and-swap and the preconditions of each delete.
 */
export function planPass(view: PassView): PassPlan {
  const facts = new PassFacts(view)
  for (const { decide } of passRules) {
    const plan = decide(facts)
    if (plan !== null) return plan
  }
  throw new Error('the last rule of a pass gave no plan')
}

/** What the rules of one pass read; each part is computed once, when the first rule asks for it. */
class PassFacts {
  readonly view: PassView
  #fence: FenceState | undefined
  #due: readonly NodeView[] | null | undefined
  #again: readonly NodeView[] | null | undefined

  constructor(view: PassView) {
    this.view = view
  }

  /** @throws Error without a record: the first rule ends such a pass */
  get record(): FlightRecord {
    const { record } = this.view
    if (record === undefined) throw new Error('a rule of a pass needs a record')
    return record
  }

  get fence(): FenceState {
    this.#fence ??= toFenceState(this.view, this.record)
    return this.#fence
  }

  /** Nodes to delete on again, prepared or not; null without any. */
  get due(): readonly NodeView[] | null {
    if (this.#due === undefined) this.#due = nodesDueAgain(this.fence)
    return this.#due
  }

  /** Nodes to delete on again now; null without any. */
  get again(): readonly NodeView[] | null {
    if (this.#again === undefined) this.#again = nodesToTakeAgain(this.fence, this.due)
    return this.#again
  }
}

function awaitRecord({ view }: PassFacts): PassPlan | null {
  return view.record === undefined ? waitFor('record') : null
}

/** F2: a view older than the record's watermark might miss a pod that was deleted for the record. See L2. */
function awaitPods({ view: { podsSeen }, record: { watermark } }: PassFacts): PassPlan | null {
  return compareResourceVersions(podsSeen, watermark) < 0 ? waitFor('podWatch') : null
}

function awaitAgreement({ view, record }: PassFacts): PassPlan | null {
  return agrees(view, record) ? null : waitFor('agreement')
}

function withdrawUnwanted({ fence }: PassFacts): PassPlan | null {
  return withdraw(permitsNotWanted(fence))
}

function stopOnVerdict({ view, fence }: PassFacts): PassPlan | null {
  return view.isBad ? waitFor('verdict', fence.tally.nextAvailableMs) : null
}

function executePermits({ fence }: PassFacts): PassPlan | null {
  const checks = knownChecks(fence)
  const executable = executablePermits(fence).filter(({ permit }) => isReadyNow(checks, permit))
  return executable.length > 0 ? { kind: 'execute', pods: executable.map(toPermittedPod) } : null
}

/** The nodes of executable permits that are not known to be ready now; their pods stay until then. */
function checkNodes({ fence }: PassFacts): PassPlan | null {
  const checks = knownChecks(fence)
  if (!checks.isAsked) return null
  const permits = executablePermits(fence).map(({ permit }) => permit)
  const questions = permits.filter((permit) => !isAskedAlready(checks, permit)).map((permit) => ({ node: permit.node, permit }))
  return toCheckNodes(questions, 'deletion')
}

function confirmChanges({ fence }: PassFacts): PassPlan | null {
  const questions = questionsOf(fence)
  return questions === null ? null : { kind: 'confirm', ...questions }
}

function makeWay({ fence, again }: PassFacts): PassPlan | null {
  const first = again === null ? makeWayFor(headThatGivesWay(fence)) : withdraw(permitsInTheWay(fence, again))
  return first ?? makeWayFor(heldThatGiveWay(fence))
}

function changePermits({ fence, again }: PassFacts): PassPlan | null {
  const change = permitChange(fence, again)
  if (change === null) return null
  const checks = knownChecks(fence)
  const unknown = change.append
    .map(({ node }) => node)
    .filter((node) => isUnknownForPermit(checks, node))
    .map(toQuestion)
  return toCheckNodes(unknown, 'permit') ?? { kind: 'changePermits', change }
}

/** Where the policy asks for it, the nodes that come next are prepared while others are in flight. */
function prepareAhead({ fence, due }: PassFacts): PassPlan | null {
  const first = due ?? nodesToPrepareBehind(fence, nodesBehindHead) ?? nodesToPrepareBehind(fence, nodesBehindSpread)
  const nodes = nodesToPrepare(fence, first)
  const isAnyNext = nodes.length === 0 && due === null && first !== null
  return toCheckNodes((isAnyNext ? nodesToPrepare(fence, null) : nodes).map(toQuestion), 'ahead')
}

/**
 * Undoes preparations that nothing needs: their permit has settled or was withdrawn, the old pod for which they began ahead is gone, or the
 * record is no longer open.
 */
function undoPreparations({ view, fence }: PassFacts): PassPlan | null {
  if (view.prepared === undefined || view.prepared.size === 0) return null
  const nodes = preparationsToUndo(fence)
  return nodes.length > 0 ? { kind: 'undoPreparations', nodes: nodes.slice(0, NODES_AT_ONCE) } : null
}

/** Renews what expires, such as the Lease of a node, until the permit of its node is settled, also in a stopped record. A sweep wakes the pass. */
function renewPreparations({ view, fence }: PassFacts): PassPlan | null {
  if (view.prepared === undefined || view.prepared.size === 0) return null
  const nodes = preparationsToRenew(fence)
  return nodes.length > 0 ? { kind: 'renewPreparations', nodes: nodes.slice(0, NODES_AT_ONCE) } : null
}

/** F1: the record permits, the DaemonSet publishes; executors act only where both agree. See L12. */
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

/**
 * F7: standing permits of nodes that can no longer be taken, or which are executable and blocked by a check; else the last ones that
 * exceed what the batch lacks. Until it is executable, a permit waits: another process that found its node ready would append it again at once.
 */
function permitsNotWanted(fence: FenceState): readonly TrackedPermit[] {
  const standing = standingPermits(fence)
  const blocked = new Set(knownChecks(fence).isAsked ? blockedPermits(fence) : [])
  const unwanted = standing.filter((tracked) => !isReadyToGo(fence, tracked) || blocked.has(tracked))
  if (unwanted.length > 0) return unwanted
  return fence.lack < 0 ? standing.slice(fence.lack) : []
}

function blockedPermits(fence: FenceState): readonly TrackedPermit[] {
  const checks = knownChecks(fence)
  return executablePermits(fence).filter(({ permit }) => isBlockedNow(checks, permit.node))
}

/** Permits keep settling while a record is being revoked or is stopped (F8), and nothing else happens (L14). */
function settleOnly(facts: PassFacts): PassPlan | null {
  if (facts.record.state === 'open') return null
  const { fence } = facts
  if (isOutdated(fence)) return waitFor('agreement')
  const questions = questionsOf(fence)
  if (questions !== null) return { kind: 'confirm', ...questions }
  const gone = fence.permits.filter(isOver)
  if (gone.length === 0) return waitFor(fence.permits.length > 0 ? 'availability' : 'opening', wakeMs(fence))
  return { kind: 'changePermits', change: { remove: gone.map(({ permit }) => permit), append: [], restsOn: restsOn(fence, gone, []) } }
}

/** F6: our DaemonSet is older than the record, and so are its minReadySeconds and placement rules. See L12. */
function isOutdated({ view: { published }, record }: FenceState): boolean {
  return published.uid === record.workloadUid && published.generation < record.generation
}

function waitForChange({ fence }: PassFacts): PassPlan {
  const standing = fence.permits.some(({ state }) => state === 'standing')
  return waitFor(standing ? 'budget' : fence.permits.some(isGone) ? 'availability' : 'batch', wakeMs(fence))
}

/** When (monotonic) the clock alone makes a pod available or a node dead, lets settled permits leave, or allows the next live read. */
function wakeMs(fence: FenceState): number | null {
  const times = [nextReadMs(fence), nextCheckMs(fence), allLeaveAtMs(fence), fence.tally.nextAvailableMs, fence.exemption.nextAtMs].filter(
    (at) => at !== null,
  )
  return times.length === 0 ? null : Math.min(...times)
}

/** Maximum number of nodes that a pass checks or releases at once. */
const NODES_AT_ONCE = 16

function toCheckNodes(nodes: readonly NodeQuestion[], purpose: CheckPurpose): PassPlan | null {
  return nodes.length > 0 ? { kind: 'checkNodes', purpose, nodes: nodes.slice(0, NODES_AT_ONCE) } : null
}

function makeWayFor({ withdrawn, unknown }: WayForNodes): PassPlan | null {
  return withdraw(withdrawn) ?? toCheckNodes(unknown === undefined ? [] : [toQuestion(unknown)], 'permit')
}

function toQuestion(node: string): NodeQuestion {
  return { node }
}

function withdraw(permits: readonly TrackedPermit[]): PassPlan | null {
  return permits.length > 0 ? { kind: 'withdraw', pods: permits.map(toPermittedPod) } : null
}

function waitFor(reason: PassWait, wakeAtMs: number | null = null): PassPlan {
  return { kind: 'wait', for: reason, wakeAtMs }
}

function toPermittedPod({ permit, pod }: TrackedPermit): PermittedPod {
  if (pod === undefined) throw new Error(`the permit for ${permit.podUid} is planned for without its pod`)
  return { permit, namespace: pod.namespace, podName: pod.name }
}
