import {
  type ActionType,
  type BlockedReason,
  type GroupWaitReason,
  type Outcome,
  type ReachWaitReason,
  isReachWait,
  type WaitingFor,
} from '@tranche/api-schema'
import { PINNED_CONFIG_ANNOTATION } from '@tranche/config'
import { tallyNodes } from '@tranche/fence'
import {
  badBeforeNodes,
  failedStable,
  failedStableText,
  firstNodes,
  hashOf,
  isDeletedOrDisabled,
  isFailingBack,
  laterStepInReach,
  leadsPast,
  revisionText,
  stepsOf,
  unpinnedText,
} from '@tranche/planner'
import { parseTime, rolloutAnnotations, timeText, valueIn } from '@tranche/kube-types'
import { acceptedBefore, isWayBack } from '@tranche/verdict'
import { isUpdatingLeft } from './left-nodes.ts'
import { needOf } from './need-of.ts'
import { conditionIn, outcomeIn } from './outcome-of.ts'
import { templateNameText } from './present-message.ts'
import { OTHER_WORKLOAD, otherWorkload } from './other-workload.ts'
import { type Outline, progressOf } from './outline.ts'
import { presentWait } from './present-message.ts'

/** Why no pod at all is deleted. */
export interface Standstill {
  /** Rule as a single word. */
  readonly rule: string
  readonly message: string
}

/** Rule of explain for a release that waits for its group, by the reason of the wait. */
export const groupRules: Readonly<Record<string, string>> = {
  GroupBusy: 'Group',
  GroupLocked: 'Group',
  GroupFailed: 'Group',
  GroupNotAllowed: 'Group',
} satisfies Readonly<Record<GroupWaitReason, string>>

/** Rule of explain for a release whose batch reaches no node, by the reason of the wait. */
export const reachRules: Readonly<Record<string, string>> = {
  NoNodeInReach: 'NotReady',
  NodesExcluded: 'Excluded',
} satisfies Readonly<Record<ReachWaitReason, string>>

/** Rules for reasons that have another name in the status. */
const rules: Readonly<Record<string, string>> = {
  RevisionHeld: 'Held',
  ReleaseFailed: 'Failed',
  ...groupRules,
  ...reachRules,
  AnalysisInconclusive: 'Analysis',
  AcceptedFailed: 'Availability',
  UnavailableBefore: 'Availability',
}

/** @returns the rule for a reason of the status */
export function ruleOf(reason: string): string {
  return valueIn(rules, reason) ?? reason
}

/** Why no node is updated; null while a release proceeds, even slowly. */
export function standstillOf(outline: Outline): Standstill | null {
  const { facts, release } = outline
  const { rollout } = facts
  const { status, spec, metadata } = rollout
  const other = otherWorkload(rollout)
  if (other !== null) return { rule: OTHER_WORKLOAD, message: other }
  const stalled = conditionIn(outline, 'Stalled')
  if (stalled?.status === 'True') return { rule: ruleOf(stalled.reason), message: stalled.message }
  if (status === undefined) return { rule: 'Pending', message: 'no controller has observed the Rollout yet: is the controller running?' }
  if (status.phase === 'Disabled') return { rule: 'Disabled', message: status.message ?? 'the Rollout is disabled' }
  if (metadata.deletionTimestamp === undefined && spec.strategy.paused === true)
    return { rule: 'Paused', message: status.message ?? 'paused by spec.strategy.paused' }
  const unseen = unseenTemplate(outline)
  if (unseen !== null) return unseen
  const record = release?.status?.flight
  if (record !== undefined && record.state !== 'open' && record.holds.length > 0)
    return { rule: ruleOf(record.holds[0]?.reason ?? ''), message: release?.status?.waiting?.message ?? status.message ?? '' }
  return release === undefined && status.phase === 'Healthy'
    ? { rule: 'Pending', message: 'no release runs; one begins for the nodes that are not updated' }
    : null
}

/** Standstill because the status does not cover the present template yet; null otherwise. */
export function unseenTemplate({ facts, discovery, canary }: Outline): Standstill | null {
  if (facts.daemonSet === undefined) return null
  if (discovery.kind === 'pending') return { rule: 'Pending', message: 'the DaemonSet controller has not observed the template yet' }
  if (discovery.canary === canary) return null
  const message = `the template is now revision ${templateNameText(facts, discovery.canary)}, which the controller has not observed yet; if this lasts, check with tranche doctor that a controller runs`
  return { rule: 'Pending', message }
}

/** Standstill when the status describes the version before the present template; null otherwise. */
export function ofVersionBefore(outline: Outline, outcome: Outcome): Standstill | null {
  const { rollout } = outline.facts
  return outcome !== 'Running' || rollout.status === undefined || otherWorkload(rollout) !== null ? null : unseenTemplate(outline)
}

/** Text of what would change the state: actions of a user, or the event that is awaited; undefined when no work is left. */
export function nextText(outline: Outline): string | undefined {
  const outcome = outcomeIn(outline)
  const need = needOf(outline, outcome)
  if (need !== undefined) {
    if (isReachWait(need.reason)) {
      const others = need.actions.filter((action) => action !== 'jump').map((action) => actionText(outline, action))
      return [...reachNexts(outline), ...others, ...jumpText(outline)].join('; ')
    }
    const actions = need.actions.map((action) => actionText(outline, action))
    if (need.reason === 'ChangeRejected') actions.unshift('the API server accepts the change: change the rule that rejects it')
    if (actions.length > 0) return actions.join('; ')
    return valueIn(waitingTexts, need.reason)?.(firstNodes(presentWait(outline)?.nodes ?? [])) ?? valueIn(remedies, need.reason)
  }
  if (outcome === 'RolledBack') return afterRollback(outline)
  if (ofVersionBefore(outline, outcome) !== null) return 'the controller observes the template'
  return outcome === 'Running' ? nextByItself(outline) : undefined
}

/** The event that the release waits for, without an action of a user. */
function nextByItself(outline: Outline): string | undefined {
  const { rollout } = outline.facts
  if (otherWorkload(rollout) !== null) return 'use the controller for this kind of workload'
  if (isUpdatingLeft(outline)) return 'the nodes that are being updated have an available pod'
  const waiting = presentWait(outline)
  if (isReachWait(waiting?.reason)) return [...reachNexts(outline), ...jumpText(outline), wayBackText(outline)].join('; ')
  if (waiting !== undefined) {
    const next = blockedNextOf(outline, waiting) ?? valueIn(waitingTexts, waiting.reason)?.(firstNodes(waiting.nodes)) ?? waiting.message
    const text = waiting.reason === 'BudgetUsedUp' ? `${next}${deadNext(outline)}` : next
    if (isForAccepted(outline, waiting)) return `${text}; ${wayBackText(outline)}`
    if (waiting.reason === 'NotAvailable' && isForBadBefore(outline)) return [text, ...pastText(outline), wayBackText(outline)].join('; ')
    return isFailingBack(progressOf(outline), outline.facts.release)
      ? `${text}; ${actionText(outline, 'undo')}; or another template is applied`
      : text
  }
  const { currentStepState, currentStepIndex = 0, lastUpdateTime } = rollout.status?.canaryStatus ?? {}
  const seconds = stepsOf(rollout)[currentStepIndex - 1]?.pause?.duration
  const sinceMs = parseTime(lastUpdateTime)
  if (currentStepState !== 'StepPaused' || seconds === undefined || sinceMs === null) return undefined
  return `its pause ends at ${timeText(sinceMs + seconds * 1000)}`
}

/** Too many dead nodes count, so that one that is back may not be enough: says what lets them cost nothing. Begins with a semicolon; else empty. */
export function deadNext(outline: Outline): string {
  const { dead, most } = progressOf(outline).exemption
  if (dead.length <= most) return ''
  return `; dead nodes cost nothing once at most ${most} are dead, or nodes.notReady.exempt is at least ${dead.length}`
}

/** The events that end a wait for nodes that checks keep: nodes may wait for several. That of the wait comes first; undefined for other waits. */
function blockedNextOf({ release }: Outline, { reason }: Pick<WaitingFor, 'reason'>): string | undefined {
  const groups = Map.groupBy(release?.status?.flight?.blocked ?? [], (blocked) => blocked.reason)
  const own = groups.get(reason)
  if (own === undefined) return undefined
  return [...new Map([[reason, own], ...groups])]
    .map(([why, nodes]) => (valueIn(blockedNexts, why) ?? blockedNexts['CheckFailed'])?.(firstNodes(nodes.map(({ node }) => node))))
    .join('; ')
}

/** Whether it waits for nothing but nodes whose failures a retry accepted: they may never recover. */
function isForAccepted({ release }: Outline, { nodes }: { readonly nodes: readonly string[] }): boolean {
  const accepted = new Set(release === undefined ? [] : acceptedBefore(release))
  return nodes.length > 0 && nodes.every((node) => accepted.has(node))
}

/** Whether it waits for nodes that were unhealthy before: they may never recover, and no deadline ends it. An abort is none in a rollback. */
function isForBadBefore(outline: Outline): boolean {
  const { release } = outline
  const { before, older } = badBeforeNodes(progressOf(outline), release)
  return release !== undefined && !isWayBack(release) && before.length + older.length > 0
}

function pastText(outline: Outline): readonly string[] {
  const { release } = outline
  return release !== undefined && leadsPast(release, progressOf(outline)) ? ['jump: continue at a later step'] : []
}

/** Events that let a batch without a node in reach continue. */
function reachNexts(outline: Outline): readonly string[] {
  const { outOfReach = [], excluded } = progressOf(outline)
  const away = outOfReach.length === 1 ? firstNodes(outOfReach) : `one of ${firstNodes(outOfReach)}`
  return [
    ...(outOfReach.length === 0 ? [] : [`${away} is Ready, and not in maintenance`]),
    ...(excluded.length === 0 ? [] : [`the policy excludes fewer nodes, or their labels change: ${firstNodes(excluded)}`]),
  ]
}

/** An abort is rejected while the Rollout is disabled or deleted. */
function wayBackText(outline: Outline): string {
  const { rollout } = outline.facts
  return isDeletedOrDisabled(rollout)
    ? `${rolloutAnnotations.onDelete} is Freeze: leave the nodes as they are, or Rollback`
    : actionText(outline, 'abort')
}

/** A jump helps only where a later step reaches a node. */
function jumpText(outline: Outline): readonly string[] {
  const { fleet, release } = outline
  // Where excluded nodes use up the budget, no step has any left.
  if (progressOf(outline).outOfReach === undefined) return []
  const step = release && laterStepInReach(fleet, release)
  return step === undefined ? [] : [`jump: continue at step ${step}`]
}

/** Rule of explain for a node that keeps its old pod because of a check, by the reason in the record. */
export const blockedRules: Readonly<Record<string, string>> = {
  NoRoom: 'Room',
  RoomUnread: 'Room',
  RoomNotAllowed: 'Room',
  ImagePull: 'PrePull',
  PrePullNotAllowed: 'PrePull',
  NodeLocked: 'Lock',
  NodeLockFailed: 'Lock',
  NodeLockNotAllowed: 'Lock',
  DeletionRefused: 'Lock',
  DowntimeSpent: 'Downtime',
  DowntimeFailed: 'Downtime',
  DowntimeNotAllowed: 'Downtime',
  DrainBlocked: 'Drain',
  DrainTaken: 'Drain',
  DrainNotAllowed: 'Drain',
  Pulling: 'PrePull',
  Draining: 'Drain',
  CheckFailed: 'CheckFailed',
} satisfies Readonly<Record<BlockedReason, string>>

/** Events that end the wait of such nodes, by the reason in the record; `nodes`: their names. */
export const blockedNexts: Readonly<Record<string, (nodes: string) => string>> = {
  NoRoom: (nodes) => `there is room for the new pods on ${nodes}: other pods leave, or the new ones request less`,
  RoomUnread: (nodes) => `executors can read ${nodes} and the pods there`,
  RoomNotAllowed: () => 'the installation allows it (rbac.room: true in the chart), or nodes.room of the policy is Ignore',
  ImagePull: (nodes) => `the new images can be pulled on ${nodes}`,
  PrePullNotAllowed: () => 'the installation allows prePull (rbac.prePull: true in the chart), or the policy does not ask for it',
  NodeLocked: (nodes) => `the Leases of ${nodes} are given back or expire`,
  NodeLockFailed: () =>
    'executors can write Leases of nodes: the namespace exists, and the permissions of rbac.nodeLocks are granted there',
  NodeLockNotAllowed: () => 'the installation lists the namespace in rbac.nodeLocks.namespaces, or downtime.nodeLock is Ignore',
  DowntimeSpent: (nodes) => `the downtime of ${nodes} in the last 24 hours falls below downtime.perDay of the policy`,
  DowntimeFailed: () =>
    'executors can write Leases in the namespace of the installation: the permissions of rbac.downtime are granted there',
  DowntimeNotAllowed: () => 'the installation allows it (rbac.downtime: true in the chart), or the policy has no downtime.perDay',
  DeletionRefused: (nodes) => `no webhook or policy denies the deletion of the pods on ${nodes}`,
  DrainBlocked: (nodes) => `the pods that use the agent leave ${nodes}`,
  DrainTaken: (nodes) => `the other release is done with ${nodes}, or is paused`,
  DrainNotAllowed: () => 'the installation lists the namespace in rbac.drain.namespaces, or the policy has no drain',
  Pulling: (nodes) => `the new images are on ${nodes}; then an executor deletes the old pods there`,
  Draining: (nodes) => `the pods that use the agent leave ${nodes}; then an executor deletes the pods of the agent there`,
  CheckFailed: () => 'the check of the node succeeds',
} satisfies Readonly<Record<BlockedReason, (nodes: string) => string>>

const groupNexts: Readonly<Record<GroupWaitReason, () => string>> = {
  GroupBusy: () => 'the other release of the group is over, is paused, or is deleted with its Rollout',
  GroupLocked: () => 'the program that holds the Lease of the group deletes it',
  GroupFailed: () => 'the controller can read and take the Lease of the group',
  GroupNotAllowed: () =>
    'the installation allows groups and grants their rights (rbac.groups: true in the chart), or the policy names none',
}

const waitingTexts: Readonly<Record<string, (nodes: string) => string>> = {
  Upgrading: (nodes) => (nodes === '' ? 'the next old pods are deleted' : `new pods become available on ${nodes}`),
  NotAvailable: (nodes) => `the pods on ${nodes} become available`,
  AcceptedFailed: (nodes) => `the pods on ${nodes} become available, or another template is applied`,
  UnavailableBefore: (nodes) => `the pods on ${nodes} become available, or another template is applied`,
  BudgetUsedUp: (nodes) => `fewer nodes are down; now down: ${nodes}`,
  SpreadUsedUp: (nodes) => `fewer nodes with the same label value are down; now down: ${nodes}`,
  ...blockedNexts,
  ...groupNexts,
  QueueUnavailable: () => 'the job queue (Redis) responds again: check that it runs and that the controller can reach it',
  NodesNotReady: (nodes) => `${nodes} become Ready`,
  NotDeleted: (nodes) => `executors delete the pods on ${nodes}: they run, and the API server rejects no deletion`,
  TouchUnclear: (nodes) =>
    `the API server accepts changes of the pods on ${nodes}: check that it responds and that no admission rule rejects them`,
}

const actionTexts: Readonly<Record<ActionType, string>> = {
  pause: 'pause: stop the release at once',
  resume: 'resume: continue the release',
  approve: 'approve: continue with the next step',
  promote: 'promote: continue without the remaining pauses',
  abort: 'abort: roll back to the stable revision',
  retry: 'retry: continue with this version despite the failures',
  undo: 'undo: return to an earlier revision',
  jump: 'jump: continue at another step',
  restart: 'restart: release the same version again',
}

/** An abort may return to a version that failed: names the nodes on which it is not available now. */
function actionText({ facts, fleet, minReadyMs }: Outline, action: ActionType): string {
  const failed = action === 'abort' ? failedStable(facts.rollout) : undefined
  if (failed?.revision === undefined) return actionTexts[action]
  const { revision } = failed
  const { unavailable } = tallyNodes(fleet, { revision, minReadyMs, monotonicMs: facts.monotonicMs })
  const down = unavailable.filter(({ pods }) => pods.some(({ hash }) => hash === revision)).map(({ name }) => name)
  const where = down.length === 0 ? '' : `; not available there now: ${firstNodes(down)}`
  return `${actionTexts[action]}${failedStableText(facts.rollout)}${where}`
}

function afterRollback(outline: Outline): string {
  const { rollout, revisions } = outline.facts
  const { rollbackFrom } = rollout.status ?? {}
  if (rollbackFrom !== undefined && isOfConfig(outline, rollbackFrom))
    return `change the config, or apply another template; or remove the annotation ${PINNED_CONFIG_ANNOTATION} from the template, and run retry with revision ${rollbackFrom}`
  const revision = rollbackFrom === undefined ? 'the revision that was rolled back' : `revision ${revisionText(revisions, rollbackFrom)}`
  return `apply another template; or run retry with ${revision}, and apply its template again`
}

/** Whether pins are all by which the revision that was rolled back differs from the present one: no user has a template with them. */
function isOfConfig({ facts: { revisions }, canary }: Outline, rolledBack: string): boolean {
  const [was, is] = [rolledBack, canary].map((hash) => revisions.find((one) => hashOf(one) === hash))
  if (was === undefined || is === undefined || rolledBack === canary) return false
  return unpinnedText(was) === unpinnedText(is)
}

/** Remedies for reasons that no action lifts and whose message does not state them. */
const remedies: Readonly<Record<string, string>> = {
  Disabled: 'set spec.disabled to false, or set updateStrategy RollingUpdate so that Kubernetes updates the remaining nodes',
}
