import type { CanaryStatus, RolloutStep } from '@tranche/api-schema'
import { hasOldPod } from '@tranche/fence'
import type { RolloutState } from '../view/rollout-state.ts'
import { parseTime } from '@tranche/kube-types'
import { nextIndex, stepReach, stepsOf } from './release-spec.ts'
import { stepInsteadOfRemoved, stepOfReplacedPlan } from './replaced-plan.ts'
import { summarizeBatchRelease } from './batch-release-summary.ts'
import { stepTitle } from './release-title.ts'
import type { RolloutView } from '../view/rollout-view.ts'
import { analysesLeft, type Soak, soakOf } from './soak.ts'

/**
 * Moves a release to the next state within its steps, or reports what it waits for.
 *
 * Users write into the same state: `StepReady` while the step is paused approves it, and another `nextStepIndex` jumps.
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

/** Moves to another step, or to the start of the present one. A jump asks for another look: pauses count again from then on. */
export function jumpTo(view: RolloutView, state: RolloutState, step: number): RolloutState {
  const { promote: _over, ...acceptedActions } = state.acceptedActions
  return toStep(view, { ...state, acceptedActions }, step, `jumped to step ${step} of ${stepsOf(view.rollout).length}`)
}

/**
 * Steps were removed from the spec, including the present one. Continues at the last step that is no larger than what was
 * released, so that nothing is released without an approval.
 */
export function toFittingStep(view: RolloutView, state: RolloutState): RolloutState {
  return toStep(view, state, stepOfReplacedPlan(view, state) ?? stepInsteadOfRemoved(view, state), 'the steps changed')
}

function walkStep(view: RolloutView, state: RolloutState, step: RolloutStep): RolloutState {
  const { readyBatch, message, stalled, waiting } = summarizeBatchRelease(view)
  const { canary } = state
  const title = stepTitle(view.rollout, state, step)
  const ready = readyBatch === canary.currentStepIndex - 1
  switch (canary.currentStepState) {
    case 'StepUpgrade':
      if (!ready) return { ...state, message: `${title}: ${message ?? 'starting'}`, waitingFor: waiting, stalled }
      return soakedStep(view, state, step, { ready, title })
    case 'StepMetricsAnalysis':
      return soakedStep(view, state, step, { ready, title })
    case 'StepPaused':
      if (isPromoted(state)) return enter(view, state, 'StepReady', `${title}: its pause is cut short`)
      if (hasFirstNode(view, state)) return enter(view, state, 'StepUpgrade', `${title}: its first node is updated while it pauses`)
      return pausedStep(view, state, step, { ready, title, stalled })
    case 'StepReady':
      return ready
        ? nextOnceMeasured(view, state, `${title} is approved`)
        : { ...state, message: `${title} is approved and waits to be healthy again: ${message ?? ''}`, stalled }
    default:
      return beginStep(view, state, step)
  }
}

/**
 * A step whose nodes are all NotReady skips them and pauses with none updated. Once one is updated and available, the pause
 * starts again: a pause in which no node runs the new version opens nothing (G3).
 */
function hasFirstNode({ rollout }: RolloutView, { canary }: RolloutState): boolean {
  return rollout.status?.canaryStatus?.canaryReplicas === 0 && canary.canaryReplicas > 0
}

/** A ready batch must stay ready and pass its analyses; only then its pause starts, or the step is over: the last one, or without a pause. */
function soakedStep(
  view: RolloutView,
  state: RolloutState,
  step: RolloutStep,
  { ready, title }: Pick<PausedStep, 'ready' | 'title'>,
): RolloutState {
  const soak = isFullyPromoted(state) || view.fleet.desired === 0 ? done : soakOf(view, state)
  if (soak.kind === 'waiting') {
    const message = `${title} ${soak.waitingFor.message}`
    const { waitingFor } = soak
    if (state.canary.currentStepState !== 'StepMetricsAnalysis')
      return { ...enter(view, state, 'StepMetricsAnalysis', message), waitingFor }
    return { ...state, message, waitingFor, stalled: summarizeBatchRelease(view).stalled, recheckAfterMs: soak.recheckAfterMs }
  }
  if (coversAll(view, state.canary)) return finalise(view, state)
  if (isPromoted(state)) return enter(view, state, 'StepReady', `${title} is ready; its pause is skipped`)
  if (ready && step.pause?.duration === 0) return nextStep(view, state)
  return enter(view, state, 'StepPaused', pauseText(title, step, stamp(view)))
}

const done: Soak = { kind: 'done' }

interface PausedStep {
  readonly ready: boolean
  readonly title: string
  readonly stalled: RolloutState['stalled']
}

/** A person or the clock ends a pause; health is checked again when it ends. */
function pausedStep(view: RolloutView, state: RolloutState, step: RolloutStep, { ready, title, stalled }: PausedStep): RolloutState {
  const since = state.canary.lastUpdateTime ?? stamp(view)
  const why = ready ? undefined : unhealthyText(view)
  const unhealthy = why === undefined ? stalledText(stalled) : `; not healthy now: ${why}`
  const paused = { ...state, message: `${pauseText(title, step, since)}${unhealthy}`, stalled }
  const seconds = step.pause?.duration
  if (seconds === undefined) return paused
  // A start that is no time never ends the pause early.
  const leftMs = (parseTime(since) ?? view.nowMs) + seconds * 1000 - view.nowMs
  if (leftMs > 0) return { ...paused, recheckAfterMs: leftMs }
  if (ready) return nextOnceMeasured(view, state, `${title}: its pause is over`)
  return { ...paused, message: `${title}: its pause is over${why === undefined ? '' : `, but it is not healthy: ${why}`}` }
}

/** Undefined for the moment after a change of the BatchRelease: its status still says that the batch before it is ready. */
function unhealthyText(view: RolloutView): string | undefined {
  return view.release?.status?.canaryStatus?.batchState === 'Ready' ? undefined : (summarizeBatchRelease(view).message ?? 'not known')
}

/** A ready batch may still have lost control of the DaemonSet, which an approval alone does not fix. */
function stalledText(stalled: RolloutState['stalled']): string {
  return stalled === null ? '' : `; ${stalled.message}`
}

function pauseText(title: string, step: RolloutStep, since: string): string {
  const seconds = step.pause?.duration
  return seconds === undefined
    ? `${title} is ready and waits for approval since ${since}`
    : `${title} is ready and pauses for ${seconds} s since ${since}`
}

/** The next step, unless analyses of this one have begun since it was ready: rules in force now decide. */
function nextOnceMeasured(view: RolloutView, state: RolloutState, why: string): RolloutState {
  const left = isFullyPromoted(state) ? null : analysesLeft(view, state)
  if (left === null) return nextStep(view, state)
  const { waitingFor } = left
  return { ...state, message: `${why}; ${waitingFor.message}`, waitingFor, stalled: summarizeBatchRelease(view).stalled }
}

/** One write says that the step is over and that the next one begins. */
function nextStep(view: RolloutView, state: RolloutState): RolloutState {
  const { nextStepIndex, currentStepIndex } = state.canary
  if (nextStepIndex === -1) return finalise(view, state)
  const next = toStep(view, state, currentStepIndex + 1, '')
  const step = stepsOf(view.rollout)[currentStepIndex]
  if (step === undefined) throw new Error('a step was advanced beyond the last one')
  return beginStep(view, next, step)
}

function beginStep(view: RolloutView, state: RolloutState, step: RolloutStep): RolloutState {
  return enter(view, state, 'StepUpgrade', `${stepTitle(view.rollout, state, step)}: starting`)
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

/** The steps are done: updates what is left in the implicit final batch, then gives the DaemonSet back. */
function finalise(view: RolloutView, state: RolloutState): RolloutState {
  const entered = enter(view, state, 'Completed', 'finishing the release')
  return { ...entered, reason: 'Finalising', canary: { ...entered.canary, finalisingStep: 'ResumeWorkload', nextStepIndex: -1 } }
}

function enter(view: RolloutView, state: RolloutState, stepState: CanaryStatus['currentStepState'], message: string): RolloutState {
  return { ...state, canary: { ...state.canary, currentStepState: stepState, lastUpdateTime: stamp(view) }, message }
}

/** The step that `nextStepIndex` asks for, if it exists and is not the next one; null otherwise. */
export function jumpTarget(canary: CanaryStatus, steps: number): number | null {
  const { nextStepIndex, currentStepIndex } = canary
  if (nextStepIndex === nextIndex(currentStepIndex, steps)) return null
  return Number.isInteger(nextStepIndex) && nextStepIndex >= 1 && nextStepIndex <= steps ? nextStepIndex : null
}

/** Whether the action `promote` skips the remaining pauses; each step must still become and stay ready before the next starts. */
function isPromoted({ acceptedActions }: RolloutState): boolean {
  return acceptedActions.promote !== undefined
}

/** Whether soaks and analyses are skipped, too. */
function isFullyPromoted({ acceptedActions }: RolloutState): boolean {
  return acceptedActions.promote?.full === true
}

/**
 * A last step that takes every node does not pause, because nothing is left to wait with; nor does a step without desired
 * nodes. Nodes that are out for a while (a zone, a tainted pool) count as left. They would return with an old pod and be
 * updated after the end, past every step (G3). One without a pod returns with the present template, whether a step pauses or not.
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
