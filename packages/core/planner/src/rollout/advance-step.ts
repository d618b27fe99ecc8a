import type { CanaryStatus, RolloutStep } from '@tranche/api-schema'
import { type BatchReach, batchReach, isWithinReach } from '../nodes/batch-reach.ts'
import { hasOldPod } from '../old-nodes.ts'
import type { RolloutState } from './rollout-state.ts'
import { isSameJson } from '@tranche/kube-types'
import { batchesOf, isFinalising, isWithinSteps, nextIndex, releaseId, stepReach, stepsOf } from './release-spec.ts'
import { isForeign, releaseReport } from './release-report.ts'
import { stepTitle } from './release-title.ts'
import type { RolloutView } from './rollout-view.ts'
import { type Soak, soakOf } from './soak.ts'

/**
 * Moves a release one state on within its steps, or leaves it with what it waits for.
 *
 * People write into the same state: `StepReady` while the step is paused approves it, and another `nextStepIndex` jumps.
 */
export function advanceStep(view: RolloutView, state: RolloutState): RolloutState {
  const steps = stepsOf(view.rollout)
  const asked = state.canary
  const jump = jumpTarget(asked, steps.length)
  if (jump !== null) return jumpTo(view, state, jump)
  const canary = { ...asked, nextStepIndex: nextIndex(asked.currentStepIndex, steps.length) }
  const step = steps[canary.currentStepIndex - 1]
  return step === undefined ? toFittingStep(view, state) : walkStep(view, { ...state, canary }, step)
}

/** Goes to another step, or to the beginning of the present one. Whoever jumps wants to look again: pauses count from then on. */
export function jumpTo(view: RolloutView, state: RolloutState, step: number): RolloutState {
  const { promote: _over, ...acceptedActions } = state.acceptedActions
  return toStep(view, { ...state, acceptedActions }, step, `jumped to step ${step} of ${stepsOf(view.rollout).length}`)
}

/**
 * Steps were taken out of the spec, and the present one with them: goes on at the last step that is no larger than what
 * was released, so that nothing is released that nobody has approved.
 */
export function toFittingStep(view: RolloutView, state: RolloutState): RolloutState {
  return toStep(view, state, stepOfReplacedPlan(view, state) ?? fittingStep(view), 'the steps changed')
}

/**
 * The step of a plan that replaced the one that runs (G3). Where the present step opens less than what was opened, it is the last that opens
 * nothing more, of several that open the same the first, so that no pause is skipped. Where it opens more, it is the first that opens at least as
 * much, from its beginning, also where that is the present one and it has waited: its soak and its pause were those of fewer nodes. Null where
 * the present step goes on as it is, the plan is the same, or the steps are over: what finishes asks for no step.
 */
export function stepOfReplacedPlan(view: RolloutView, { canary }: Pick<RolloutState, 'canary'>): number | null {
  const { rollout, release } = view
  if (release === undefined || isForeign(view) || release.spec.tranche?.release !== releaseId(rollout)) return null
  if (isFinalising(canary)) return null
  if (release.spec.releasePlan.batchPartition === undefined || isSameJson(release.spec.releasePlan.batches ?? [], batchesOf(rollout)))
    return null
  const { currentStepIndex: present } = canary
  if (!isWithinSteps(rollout, canary)) return null
  const [reach, released] = [stepReach(view, present), releasedReach(view)]
  if (isSameReach(reach, released)) return null
  if (!isWithinReach(released, reach)) {
    const step = fittingStep(view)
    return step > present ? step : null
  }
  const first = stepsOf(rollout).findIndex((_, at) => isWithinReach(released, stepReach(view, at + 1))) + 1
  return first < present || isPastUpgrade(canary) ? first : null
}

/** All nodes of its step are updated; it soaks, pauses, or was approved. */
function isPastUpgrade({ currentStepState }: CanaryStatus): boolean {
  return currentStepState === 'StepMetricsAnalysis' || currentStepState === 'StepPaused' || currentStepState === 'StepReady'
}

/** From 1. */
function fittingStep(view: RolloutView): number {
  const released = releasedReach(view)
  const reaches = stepsOf(view.rollout).map((_, at) => stepReach(view, at + 1))
  const last = reaches.findLast((reach) => isWithinReach(reach, released))
  return last === undefined ? 1 : reaches.findIndex((reach) => isWithinReach(last, reach)) + 1
}

function isSameReach(reach: BatchReach, other: BatchReach): boolean {
  return isWithinReach(reach, other) && isWithinReach(other, reach)
}

/** How far the plan that runs reaches. */
function releasedReach({ release, fleet }: RolloutView): BatchReach {
  const { releasePlan, tranche } = release?.spec ?? {}
  return batchReach(fleet, { plan: releasePlan ?? {}, nodes: tranche?.nodes, batch: releasePlan?.batchPartition ?? -1 })
}

function walkStep(view: RolloutView, state: RolloutState, step: RolloutStep): RolloutState {
  const { readyBatch, message, stalled, waiting } = releaseReport(view)
  const { canary } = state
  const title = stepTitle(view.rollout, state, step)
  const ready = readyBatch === canary.currentStepIndex - 1
  switch (canary.currentStepState) {
    case 'StepUpgrade':
      if (!ready) return { ...state, message: `${title}: ${message ?? 'starting'}`, waitingFor: waiting, stalled }
      return soakedStep(view, state, step, title)
    case 'StepMetricsAnalysis':
      return soakedStep(view, state, step, title)
    case 'StepPaused':
      if (isPromoted(state)) return enter(view, state, 'StepReady', `${title}: its pause is cut short`)
      if (hasFirstNode(view, state)) return enter(view, state, 'StepUpgrade', `${title}: its first node is updated while it pauses`)
      return pausedStep(view, state, step, { ready, title, stalled })
    case 'StepReady':
      return ready
        ? nextStep(view, state)
        : { ...state, message: `${title} is approved and waits to be healthy again: ${message ?? ''}`, stalled }
    default:
      return enter(view, state, 'StepUpgrade', `${title}: starting`)
  }
}

/**
 * A step whose nodes are all NotReady passes them over and pauses with none updated. Once one is updated, the pause begins again when it is
 * available: a pause in which no node runs the new version opens nothing (G3).
 */
function hasFirstNode({ rollout }: RolloutView, { canary }: RolloutState): boolean {
  return rollout.status?.canaryStatus?.canaryReplicas === 0 && canary.canaryReplicas > 0
}

/** What is ready must stay so, and be found good by its analyses; only then does its pause begin, or is the last step over. */
function soakedStep(view: RolloutView, state: RolloutState, step: RolloutStep, title: string): RolloutState {
  const soak = isFullyPromoted(state) || view.fleet.desired === 0 ? done : soakOf(view, state.canary.currentStepIndex)
  if (soak.kind === 'waiting') {
    const message = `${title} ${soak.waitingFor.message}`
    const { waitingFor } = soak
    if (state.canary.currentStepState !== 'StepMetricsAnalysis')
      return { ...enter(view, state, 'StepMetricsAnalysis', message), waitingFor }
    return { ...state, message, waitingFor, stalled: releaseReport(view).stalled, recheckAfterMs: soak.recheckAfterMs }
  }
  if (coversAll(view, state.canary)) return finalise(view, state)
  if (isPromoted(state)) return enter(view, state, 'StepReady', `${title} is ready; its pause is skipped`)
  return enter(view, state, 'StepPaused', pauseText(title, step, stamp(view)))
}

const done: Soak = { kind: 'done' }

interface PausedStep {
  readonly ready: boolean
  readonly title: string
  readonly stalled: RolloutState['stalled']
}

/** A pause ends by a person, or by the clock; health is looked at again when it ends. */
function pausedStep(view: RolloutView, state: RolloutState, step: RolloutStep, { ready, title, stalled }: PausedStep): RolloutState {
  const since = state.canary.lastUpdateTime ?? stamp(view)
  const unhealthy = ready ? stalledText(stalled) : `; not healthy now: ${releaseReport(view).message ?? 'not known'}`
  const paused = { ...state, message: `${pauseText(title, step, since)}${unhealthy}`, stalled }
  const seconds = step.pause?.duration
  if (seconds === undefined) return paused
  const leftMs = Date.parse(since) + seconds * 1000 - view.nowMs
  if (leftMs > 0) return { ...paused, recheckAfterMs: leftMs }
  if (ready) return nextStep(view, state)
  return { ...paused, message: `${title}: its pause is over, but it is not healthy: ${releaseReport(view).message ?? ''}` }
}

/** A batch that is ready may still have lost its hold on the DaemonSet, which an approval alone does not mend. */
function stalledText(stalled: RolloutState['stalled']): string {
  return stalled === null ? '' : `; ${stalled.message}`
}

function pauseText(title: string, step: RolloutStep, since: string): string {
  const seconds = step.pause?.duration
  return seconds === undefined
    ? `${title} is ready and waits for approval since ${since}`
    : `${title} is ready and pauses for ${seconds} s since ${since}`
}

function nextStep(view: RolloutView, state: RolloutState): RolloutState {
  const { nextStepIndex, currentStepIndex } = state.canary
  const steps = stepsOf(view.rollout).length
  if (nextStepIndex === -1) return finalise(view, state)
  return toStep(view, state, currentStepIndex + 1, `step ${currentStepIndex + 1} of ${steps} begins`)
}

function toStep(view: RolloutView, state: RolloutState, index: number, message: string): RolloutState {
  const canary: CanaryStatus = {
    ...state.canary,
    currentStepIndex: index,
    nextStepIndex: nextIndex(index, stepsOf(view.rollout).length),
    currentStepState: 'BeforeStepUpgrade',
    lastUpdateTime: stamp(view),
  }
  return { ...state, canary, message }
}

/** The steps are done: what is left, if anything, is the implicit final batch; then the DaemonSet is given back. */
function finalise(view: RolloutView, state: RolloutState): RolloutState {
  const entered = enter(view, state, 'Completed', 'finishing the release')
  return { ...entered, reason: 'Finalising', canary: { ...entered.canary, finalisingStep: 'ResumeWorkload', nextStepIndex: -1 } }
}

function enter(view: RolloutView, state: RolloutState, stepState: CanaryStatus['currentStepState'], message: string): RolloutState {
  return { ...state, canary: { ...state.canary, currentStepState: stepState, lastUpdateTime: stamp(view) }, message }
}

/** The step that `nextStepIndex` asks for: another than the one that follows, and one that exists; null otherwise. */
export function jumpTarget(canary: CanaryStatus, steps: number): number | null {
  const { nextStepIndex, currentStepIndex } = canary
  if (nextStepIndex === nextIndex(currentStepIndex, steps)) return null
  return Number.isInteger(nextStepIndex) && nextStepIndex >= 1 && nextStepIndex <= steps ? nextStepIndex : null
}

/** The remaining pauses are skipped, by the action `promote`; each step must still be ready, and stay so, before the next begins. */
function isPromoted({ acceptedActions }: RolloutState): boolean {
  return acceptedActions.promote !== undefined
}

/** Soaks and analyses are skipped too. */
function isFullyPromoted({ acceptedActions }: RolloutState): boolean {
  return acceptedActions.promote?.full === true
}

/**
 * A last step that takes every node does not pause: there is nothing left to wait with; nor is there where no node is desired. Nodes that
 * are out for a while (a zone, a tainted pool) and come back with an old pod are left to wait with: they would be updated after
 * the end, past every step (G3).
 */
function coversAll(view: RolloutView, canary: CanaryStatus): boolean {
  const { desired } = view.fleet
  const isLast = canary.nextStepIndex === -1
  if (isLast && isOfAll(stepsOf(view.rollout)[canary.currentStepIndex - 1])) return true
  const isAll = desired === 0 || (isLast && stepReach(view, canary.currentStepIndex).size >= desired)
  return isAll && !view.fleet.nodes.some((node) => !node.desired && hasOldPod(node, canary.canaryRevision))
}

function isOfAll(step: RolloutStep | undefined): boolean {
  return step?.nodes === undefined && (step?.replicas ?? '100%') === '100%'
}

function stamp(view: RolloutView): string {
  return new Date(view.nowMs).toISOString()
}
