import type { NodeBudget, NodeReport, ReportedNodeState, WatchedNode } from '@tranche/api-schema'
import { type FleetPod, nodeInView, type NodeView } from '@tranche/fleet'
import { recordedFacts, nodeDeadlines } from '@tranche/verdict'
import { timeText } from '@tranche/kube-types'
import {
  comesUpAtMs,
  isReported,
  nodeState,
  outOfReachText,
  roleOf,
  shownPod,
  type StateQuestion,
  stateQuestion,
  zoneOf,
} from './node-state.ts'
import { type NodeBudgets, nodeBudgetsIn } from './node-budgets.ts'
import { type Outline, outlineOf } from './outline.ts'
import type { ReleaseFacts } from './release-facts.ts'

/**
 * Reports of all desired nodes, and of nodes lost after their update, sorted by name. A node that has not changed keeps its report: the
 * same object as in the last call.
 */
export function reportNodes(facts: ReleaseFacts): readonly NodeReport[] {
  return reportNodesUntil(facts).nodes
}

/** Reports of nodes, and how long they are valid while nothing but the time changes. */
export interface NodeReports {
  /** @see reportNodes */
  readonly nodes: readonly NodeReport[]
  /** Epoch milliseconds from which the clock alone may change a report; Infinity if it changes none. */
  readonly changesAtMs: number
}

/**
 * The same as {@link reportNodes}, with the time of the next possible change by the clock: a pod becomes available, a deadline passes, or a
 * node counts as dead.
 */
export function reportNodesUntil(facts: ReleaseFacts): NodeReports {
  const outline = outlineOf(facts)
  const question = stateQuestion(outline)
  const memory = nodeMemoryOf(outline)
  const kept = outline.fleet.nodes.flatMap((node) => (isReported(node, question) ? [keptReport(node, question, memory)] : []))
  const upAtMs = kept.reduce((next, { changesAtMs }) => Math.min(next, changesAtMs), memory.budgetsChangeAtMs)
  const failsAtMs = Math.min(...memory.deadlines.values())
  return { nodes: kept.map(({ report }) => report), changesAtMs: Math.min(facts.nowMs + upAtMs - facts.monotonicMs, failsAtMs) }
}

/**
 * Finds the pod that represents a node in reports, as in its `pod`.
 *
 * @returns null when the node has no pod; undefined when the DaemonSet neither should run on a node of this name nor has a pod there
 */
export function podOnNode(facts: ReleaseFacts, name: string): FleetPod | null | undefined {
  const outline = outlineOf(facts)
  const node = nodeInView(outline.fleet, name)
  return node && (shownPod(node, outline.canary) ?? null)
}

/** A report, with everything besides the node that it was made from. */
interface KeptReport {
  readonly report: NodeReport
  readonly question: StateQuestion
  readonly hasFailed: boolean
  readonly downSince: string | undefined
  readonly failure: string | undefined
  readonly failsAtMs: number | undefined
  readonly budget: NodeBudget | undefined
  /** Monotonic time at which a pod of the node becomes available by the clock alone; Infinity without one. */
  readonly changesAtMs: number
}

/** Reports by node: views are immutable, and an unchanged node is the same object in the next view. */
const keptReports = new WeakMap<NodeView, KeptReport>()

function keptReport(node: NodeView, question: StateQuestion, memory: NodeMemory): KeptReport {
  const { name } = node
  const known = keptReports.get(node)
  const hasFailed = question.failed.has(name)
  const downSince = memory.watched.get(name)?.downSince
  const failure = memory.failures.get(name)
  const failsAtMs = memory.deadlines.get(name)
  const budget = memory.budgets.get(name)
  if (
    known !== undefined &&
    known.hasFailed === hasFailed &&
    known.downSince === downSince &&
    known.failure === failure &&
    known.failsAtMs === failsAtMs &&
    known.budget?.message === budget?.message &&
    isSameQuestion(known, question)
  )
    return known
  const report = nodeReport(node, question, memory)
  const changesAtMs = node.pods.reduce((next, pod) => Math.min(next, comesUpAtMs(pod, question)), Number.POSITIVE_INFINITY)
  const made = { report, question, hasFailed, downSince, failure, failsAtMs, budget, changesAtMs }
  keptReports.set(node, made)
  return made
}

function isSameQuestion({ question: known, changesAtMs }: KeptReport, asked: StateQuestion): boolean {
  return (
    known.canary === asked.canary &&
    known.stable === asked.stable &&
    isSameList(known.former, asked.former) &&
    known.minReadyMs === asked.minReadyMs &&
    known.scope.rules === asked.scope.rules &&
    known.monotonicMs <= asked.monotonicMs &&
    asked.monotonicMs < changesAtMs
  )
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((one, at) => one === b[at]))
}

/** Recorded facts about unhealthy and failed nodes, by node, and which of them cost budget. */
export interface NodeMemory extends NodeBudgets {
  readonly watched: ReadonlyMap<string, WatchedNode>
  readonly failures: ReadonlyMap<string, string>
  /** Epoch milliseconds at which a running deadline fails the node. */
  readonly deadlines: ReadonlyMap<string, number>
}

/** @returns the parts of the status about single nodes */
export function nodeMemoryOf(outline: Outline): NodeMemory {
  const { release, failure } = outline
  const said = (failure?.failedNodes ?? []).map(({ node, reason, container, exitCode, message }): [string, string] => [
    node,
    troubleText({ reason, container, exitCode, message }),
  ])
  const watched = new Map((release?.status?.watchedNodes ?? []).map((entry) => [entry.node, entry]))
  return { watched, failures: new Map(said), deadlines: deadlinesIn(outline), ...nodeBudgetsIn(outline) }
}

/**
 * Running deadlines; empty without a release. Leaves out a deadline that moves with the clock: the time of the node has not begun, or does
 * not run.
 */
function deadlinesIn({ facts, fleet, release, minReadyMs }: Outline): NodeMemory['deadlines'] {
  if (release === undefined) return new Map()
  const { nowMs, monotonicMs } = facts
  const given = { release, fleet, minReadyMs, nowMs, monotonicMs, ...recordedFacts(release) }
  const deadlines = nodeDeadlines(given)
  if (deadlines.size === 0) return deadlines
  const soon = nodeDeadlines({ ...given, nowMs: nowMs + 1 })
  return new Map([...deadlines].filter(([node, atMs]) => soon.get(node) === atMs))
}

/** Report of one node in the release. */
export function nodeReport(node: NodeView, question: StateQuestion, memory: NodeMemory): NodeReport {
  const state = nodeState(node, question)
  const pod = shownPod(node, question.canary)
  const since = sinceOf(state, pod, memory.watched.get(node.name))
  const failsAtMs = memory.deadlines.get(node.name)
  const budget = memory.budgets.get(node.name)
  const why = whyText({ node, pod, state, question, memory })
  return {
    name: node.name,
    zone: zoneOf(node),
    state,
    role: roleOf(pod?.hash, question),
    ...(pod?.hash !== undefined && { revision: pod.hash }),
    ...(pod !== undefined && { pod: pod.name }),
    ...(since !== undefined && { since }),
    ...(failsAtMs !== undefined && { failsAt: wholeSeconds(failsAtMs) }),
    ...batchOf(pod, question),
    ...(why !== undefined && { why }),
    ...(budget !== undefined && { budget }),
    ...(pod !== undefined && pod.restarts > 0 && { restarts: pod.restarts }),
  }
}

function wholeSeconds(ms: number): string {
  return timeText(Math.ceil(ms / 1000) * 1000)
}

/** The batch label counts only on pods of the revision being released. */
function batchOf(pod: FleetPod | undefined, { canary }: StateQuestion): { readonly batch?: number } {
  const batch = Number(pod?.hash === canary ? pod.rolloutBatchId : undefined)
  return Number.isInteger(batch) && batch >= 1 ? { batch } : {}
}

/** Start of the state: for an available pod when it became Ready; else when it was last Ready or was created. */
function sinceOf(state: ReportedNodeState, pod: FleetPod | undefined, watched: WatchedNode | undefined): string | undefined {
  if (state === 'updated' || state === 'old' || state === 'excluded') return pod?.ready === true ? pod.readyStamp : pod?.createdAt
  if (watched?.downSince !== undefined) return watched.downSince
  if (pod?.terminating === true) return undefined
  return pod?.readyStamp ?? pod?.createdAt
}

interface WhyQuestion {
  readonly node: NodeView
  readonly pod: FleetPod | undefined
  readonly state: ReportedNodeState
  readonly question: StateQuestion
  readonly memory: NodeMemory
}

/** Why its pod is not available, or why the node is skipped. */
function whyText({ node, pod, state, question, memory }: WhyQuestion): string | undefined {
  switch (state) {
    case 'updated':
      return undefined
    case 'old':
      return node.maintenance === undefined ? undefined : outOfReachText(node)
    case 'excluded':
      return 'excluded by the policy'
    case 'notReady':
      return outOfReachText(node)
    case 'failing':
      return memory.failures.get(node.name) ?? (pod?.trouble === undefined ? podText(pod, question) : troubleText(pod.trouble))
    case 'down':
    case 'updating':
      return podText(pod, question)
    default:
      return state satisfies never
  }
}

function podText(pod: FleetPod | undefined, { minReadyMs }: StateQuestion): string {
  if (pod === undefined) return 'the node has no pod yet'
  if (pod.terminating)
    return pod.keptBy === undefined ? 'the pod is terminating' : `finalizers block the deletion of the pod: ${pod.keptBy.join(', ')}`
  if (pod.trouble !== undefined) return troubleText(pod.trouble)
  if (pod.ready) return `Ready, but not yet for minReadySeconds (${Math.round(minReadyMs / 1000)})`
  return pod.phase === 'Pending' ? 'the pod is starting' : 'the pod is not Ready'
}

/** `CrashLoopBackOff: container agent, exit code 1: no such file`. */
function troubleText({ reason, container, exitCode, message }: Trouble): string {
  const where = [
    ...(container === undefined ? [] : [`container ${container}`]),
    ...(exitCode === undefined ? [] : [`exit code ${exitCode}`]),
  ].join(', ')
  return [reason, where, message ?? ''].filter((part) => part !== '').join(': ')
}

interface Trouble {
  readonly reason: string
  readonly container?: string | undefined
  readonly exitCode?: number | undefined
  readonly message?: string | undefined
}
