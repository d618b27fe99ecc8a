import {
  type BlockedNode,
  type LeftNodes,
  presentReason,
  reachWaitReasons,
  type Rollout,
  type StalledReason,
  type WaitingFor,
  waitText,
} from '@tranche/api-schema'
import { updatedPod } from '@tranche/fence'
import { isAvailable, nodeInView } from '@tranche/fleet'
import { isSameJson } from '@tranche/kube-types'
import { type BatchProgress, countedWait, firstNodes, leftText, releaseTitle, stepsOf } from '@tranche/planner'
import { isOverButForNodes, isUpdatingLeft, leftNodesIn } from './left-nodes.ts'
import { type Outline, progressOf } from './outline.ts'
import { personWaitOf } from './policy/person-wait.ts'
import { othersNotAllowedText } from './policy/unusable-parts.ts'
import type { ReleaseFacts } from './release-facts.ts'
import { stepSizes } from './step-sizes.ts'

/**
 * What the release waits for, with the nodes of now: the status has the nodes of its last write. Waits that no node count
 * determines are as in the status. Undefined when it waits for nothing.
 */
export function presentWait(outline: Outline): WaitingFor | undefined {
  const { facts, release } = outline
  const said = release?.status?.waiting
  const hasAccepted = (release?.status?.failure?.accepted ?? []).length > 0
  if (said === undefined || facts.fleet === undefined || hasAccepted || !countedReasons.includes(said.reason)) return said
  const progress = progressOf(outline)
  // Only the status knows which nodes use up the budget, and which nodes wait for it.
  if (isForBudget(said.reason, progress) && said.nodes.every((node) => progress.unavailable.includes(node))) return said
  const now = progress.state === 'Ready' ? unseenReady : countedWait(progress, release, facts.fleet)
  if (now.reason !== said.reason) return now
  return isUsedUpByOthers(outline, said.nodes) && isSameJson(said.nodes, now.nodes) ? said : { ...now, since: said.since }
}

/** Excluded nodes may use up the budget, or be all that the batch has. */
function isForBudget(reason: string, { outOfReach }: BatchProgress): boolean {
  return reason === 'BudgetUsedUp' || (reason === 'NodesExcluded' && outOfReach === undefined)
}

/** Whether other nodes than those that are waited for use up the rest of the budget: only the status says so. */
function isUsedUpByOthers(outline: Outline, nodes: readonly string[]): boolean {
  const { unavailable } = progressOf(outline)
  const { limit } = outline.release?.status?.flight ?? {}
  return limit !== undefined && unavailable.length >= limit && unavailable.some((name) => !nodes.includes(name))
}

/** The status message with the present wait; undefined before the first status. */
export function presentMessage(outline: Outline): string | undefined {
  const { rollout } = outline.facts
  const { message, waitingFor } = rollout.status ?? {}
  const empty = emptyStepText(outline)
  if (empty !== undefined) return titled(rollout, empty)
  // The status still calls such a node due, which it was until its old pod was deleted.
  const isPaused = rollout.spec.strategy.paused === true
  if (!isStalled(outline) && !isPaused && (isUpdatingLeft(outline) || leavesAccepted(outline))) {
    const left = leftNodesIn(outline)
    if (left.length > 0) return updatingLeftText(left)
  }
  const present = presentWaitingFor(outline)
  const text = present === undefined || present === waitingFor ? message : titled(rollout, waitText(present))
  if (text === undefined) return undefined
  const forPerson = personWaitOf(rollout, outline.release)
  return `${text}${forPerson === null ? healedText(outline) : othersNotAllowedText(rollout, forPerson)}${waitingTemplateText(outline)}`
}

/** The template that a stall keeps from being released; begins with a semicolon. Empty without one. */
export function waitingTemplateText({ facts, waiting }: Outline): string {
  return waiting === undefined ? '' : `; revision ${templateNameText(facts, waiting)} waits until this is fixed`
}

/** @returns `67d4 (agent:v5)`, or the revision alone if the present template has no image */
export function templateNameText({ daemonSet }: ReleaseFacts, revision: string): string {
  const images = (daemonSet?.spec.template.spec?.containers ?? []).flatMap(({ image }) => image ?? [])
  return images.length === 0 ? revision : `${revision} (${images.join(', ')})`
}

/** The failed nodes that have an available pod now, though the failure still stops the release. Begins with a semicolon; empty without any. */
export function healedText(outline: Outline): string {
  const { facts, fleet, canary, failure, minReadyMs } = outline
  if (failure === undefined || !isStalled(outline, 'ReleaseFailed')) return ''
  const healed = failure.nodes.filter((name) => {
    const node = nodeInView(fleet, name)
    const pod = node && updatedPod(node, canary)
    return pod !== undefined && isAvailable(pod, minReadyMs, facts.monotonicMs)
  })
  return healed.length === 0 ? '' : `; available again: ${firstNodes(healed)}`
}

/** Whether the release is over but for nodes whose failures a retry accepted: the status then says nothing of nodes left. */
function leavesAccepted(outline: Outline): boolean {
  const { facts, release } = outline
  const { phase, rollbackFrom, conditions } = facts.rollout.status ?? {}
  if (phase !== 'Healthy' || rollbackFrom !== undefined || release?.status?.waiting?.reason === 'NodesLeft') return false
  const isKept = conditions?.some(({ type, status, reason }) => type === 'StrategyRestored' && status === 'False' && reason === 'NodesLeft')
  return isKept === true && isOverButForNodes(outline) && leftNodesIn(outline).length > 0
}

function updatingLeftText(groups: readonly LeftNodes[]): string {
  const count = groups.reduce((sum, group) => sum + group.count, 0)
  return `${count === 1 ? '1 node is' : `${count} nodes are`} left behind: ${leftText(groups)}`
}

/**
 * Nodes that keep their old pod because of a check, or while executors prepare them, without those that the text of the present wait is about.
 * Other nodes proceed meanwhile.
 */
export function blockedNodesOf(outline: Outline): readonly BlockedNode[] {
  const { blocked = [], state } = outline.release?.status?.flight ?? {}
  const wait = presentWait(outline)
  return state === 'open' && !blocked.some(({ reason }) => reason === wait?.reason) ? blocked : []
}

/** What the pause of a step waits for that adds no node: it is ready for the release, and there is nothing to look at. */
function emptyStepText(outline: Outline): string | undefined {
  const { facts, failure } = outline
  const { rollout, fleet } = facts
  const { currentStepState, currentStepIndex: index = 0, lastUpdateTime } = rollout.status?.canaryStatus ?? {}
  if (currentStepState !== 'StepPaused' || rollout.spec.strategy.paused === true || fleet === undefined) return undefined
  if (failure !== undefined || progressOf(outline).state !== 'Ready' || isStalled(outline)) return undefined
  const sizes = stepSizes(outline)
  if ((sizes[index - 1] ?? 0) > (sizes[index - 2] ?? 0)) return undefined
  const since = lastUpdateTime === undefined ? '' : ` since ${lastUpdateTime}`
  const seconds = stepsOf(rollout)[index - 1]?.pause?.duration
  return seconds === undefined ? `no node; waits for approval${since}` : `no node; pauses for ${seconds} s${since}`
}

/** @param why a reason; any if undefined */
function isStalled({ facts }: Outline, why?: StalledReason): boolean {
  const stalled = facts.rollout.status?.conditions?.find(({ type, status }) => type === 'Stalled' && status === 'True')
  return stalled !== undefined && (why === undefined || presentReason(stalled.reason) === why)
}

function titled(rollout: Rollout, text: string): string {
  const title = releaseTitle(rollout)
  return title === '' ? text : `${title}: ${text}`
}

/** The present wait of the running step; undefined for any other wait. */
export function presentWaitingFor(outline: Outline): WaitingFor | undefined {
  const { waitingFor } = outline.facts.rollout.status ?? {}
  if (waitingFor === undefined || outline.release === undefined || !countedReasons.includes(waitingFor.reason)) return waitingFor
  const wait = presentWait(outline)
  if (wait !== undefined) return wait
  return progressOf(outline).state === 'Ready' ? unseenReady : waitingFor
}

/** Reasons that node counts alone determine. */
const countedReasons: readonly string[] = ['NotAvailable', 'Upgrading', 'BudgetUsedUp', ...reachWaitReasons]

const unseenReady: WaitingFor = {
  reason: 'Upgrading',
  message: 'every node of the batch is available; the controller has not observed that yet',
  nodes: [],
}
