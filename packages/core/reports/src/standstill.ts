import type { Outcome, ActionType } from '@tranche/api-schema'
import { firstNodes, stepsOf } from '@tranche/planner'
import { needOf } from './need-of.ts'
import { conditionIn, outcomeIn } from './outcome-of.ts'
import { OTHER_WORKLOAD, otherWorkload } from './other-workload.ts'
import type { Outline } from './outline.ts'
import { presentWait } from './present-message.ts'

/** Why nothing is deleted at all. */
export interface Standstill {
  /** In one word. */
  readonly rule: string
  readonly message: string
}

/** Words of rules for reasons that have another name in the status. */
const rules: Readonly<Record<string, string>> = {
  RevisionHeld: 'Held',
  ReleaseFailed: 'Failed',
  AnalysisInconclusive: 'Analysis',
}

/** @returns the word for a reason of the status */
export function ruleOf(reason: string): string {
  return rules[reason] ?? reason
}

/** Why no node is updated, whichever it is; null where a release goes on, be it slowly. */
export function standstillOf(outline: Outline): Standstill | null {
  const { facts, release } = outline
  const { rollout } = facts
  const { status, spec, metadata } = rollout
  const other = otherWorkload(rollout)
  if (other !== null) return { rule: OTHER_WORKLOAD, message: other }
  const stalled = conditionIn(outline, 'Stalled')
  if (stalled?.status === 'True') return { rule: ruleOf(stalled.reason), message: stalled.message }
  if (status === undefined) return { rule: 'Pending', message: 'no controller has seen the Rollout yet: is the controller running?' }
  if (status.phase === 'Disabled') return { rule: 'Disabled', message: status.message ?? 'the Rollout is disabled' }
  if (metadata.deletionTimestamp === undefined && spec.strategy.paused === true)
    return { rule: 'Paused', message: status.message ?? 'paused by spec.strategy.paused' }
  const unseen = unseenTemplate(outline)
  if (unseen !== null) return unseen
  const record = release?.status?.flight
  if (record !== undefined && record.state !== 'open' && record.holds.length > 0)
    return { rule: ruleOf(record.holds[0]?.reason ?? ''), message: release?.status?.waiting?.message ?? status.message ?? '' }
  return release === undefined && status.phase === 'Healthy'
    ? { rule: 'Pending', message: 'no release runs; one begins for what is not updated' }
    : null
}

/** The DaemonSet has a template of which the status does not speak yet; null where it has not. */
export function unseenTemplate({ facts, discovery, canary }: Outline): Standstill | null {
  if (facts.daemonSet === undefined) return null
  if (discovery.kind === 'pending') return { rule: 'Pending', message: 'the DaemonSet controller has yet to observe the template' }
  if (discovery.canary === canary) return null
  const images = (facts.daemonSet.spec.template.spec?.containers ?? []).flatMap(({ image }) => image ?? [])
  const named = images.length === 0 ? discovery.canary : `${discovery.canary} (${images.join(', ')})`
  const message = `the template is now revision ${named}, which the controller has yet to take up; if this lasts, tranche doctor says whether one runs`
  return { rule: 'Pending', message }
}

/** A template of which the status does not speak, where that makes the status one of the version before; null where it does not. */
export function ofVersionBefore(outline: Outline, outcome: Outcome): Standstill | null {
  const { rollout } = outline.facts
  return outcome !== 'Running' || rollout.status === undefined || otherWorkload(rollout) !== null ? null : unseenTemplate(outline)
}

/** What would change how it stands: what a person can do, or what is waited for; undefined where nothing is left to do. */
export function nextText(outline: Outline): string | undefined {
  const outcome = outcomeIn(outline)
  const need = needOf(outline, outcome)
  if (need !== undefined)
    return need.actions.length === 0 ? remedies[need.reason] : need.actions.map((action) => actionTexts[action]).join('; ')
  if (outcome === 'RolledBack') return remedies.TakenBack
  if (ofVersionBefore(outline, outcome) !== null) return 'the controller takes the template up'
  return outcome === 'Running' ? nextByItself(outline) : undefined
}

/** What the release waits for, as what has to happen. */
function nextByItself(outline: Outline): string | undefined {
  const { rollout } = outline.facts
  if (otherWorkload(rollout) !== null) return 'ask the controller that this Rollout is meant for'
  const waiting = presentWait(outline)
  if (waiting !== undefined) return waitingTexts[waiting.reason]?.(firstNodes(waiting.nodes)) ?? waiting.message
  const { currentStepState, currentStepIndex = 0, lastUpdateTime } = rollout.status?.canaryStatus ?? {}
  const seconds = stepsOf(rollout)[currentStepIndex - 1]?.pause?.duration
  if (currentStepState !== 'StepPaused' || seconds === undefined || lastUpdateTime === undefined) return undefined
  return `its pause is over at ${new Date(Date.parse(lastUpdateTime) + seconds * 1000).toISOString()}`
}

const waitingTexts: Readonly<Record<string, (nodes: string) => string>> = {
  Upgrading: (nodes) => (nodes === '' ? 'the next old pods are deleted' : `new pods become available on ${nodes}`),
  NotAvailable: (nodes) => `the pods on ${nodes} become available`,
  BudgetUsedUp: (nodes) => `fewer nodes are down; now it is ${nodes}`,
  SpreadUsedUp: (nodes) => `fewer nodes of the same value are down; now it is ${nodes}`,
  QueueUnavailable: () => 'the job queue (Redis) answers again: see whether it runs, and whether the controller reaches it',
  NodesNotReady: (nodes) => `${nodes} become Ready`,
  TouchUnclear: (nodes) =>
    `the API server answers for the pods on ${nodes}: see whether it does, and whether something refuses changes of pods`,
}

const actionTexts: Readonly<Record<ActionType, string>> = {
  pause: 'pause: stop where it stands',
  resume: 'resume: go on',
  approve: 'approve: go on to the next step',
  promote: 'promote: go on without the remaining pauses',
  abort: 'abort: take the version back',
  retry: 'retry: go on with this version all the same',
  undo: 'undo: go back to an earlier revision',
  jump: 'jump: go to another step',
  restart: 'restart: release the same version anew',
}

/** What lifts a reason that no action lifts, where its message does not say it. */
const remedies: Readonly<Record<string, string>> = {
  TakenBack: 'another template; or retry with the revision that was taken back, and then its template again',
  Disabled: 'set spec.disabled to false, or let Kubernetes update the rest by updateStrategy RollingUpdate',
}
