import type { Rollout, ActionType } from '@tranche/api-schema'
import { commandText, isDeletedOrDisabled, retryHeldText } from '@tranche/planner'
import { rolloutAnnotations, valueIn } from '@tranche/kube-types'
import { isDaemonSetRef } from '@tranche/validation'
import { type Standing, standingOf, standingText } from './standing.ts'
import { refused, type Action, type ActionRejection } from './action.ts'

/** Reasons of `Stalled` that a retry lifts. */
const liftedByRetry: readonly string[] = ['RevisionHeld', 'ReleaseFailed', 'AnalysisInconclusive', 'StrategyConflict']

/** Reasons of `Stalled` that only a retry or an abort ends. */
const stoppedBy: readonly string[] = ['RevisionHeld', 'ReleaseFailed', 'AnalysisInconclusive']

/**
 * Why an action on a Rollout cannot be written in the present state; null when it can. The controller checks every action again
 * when it reads it (G10). This function refuses what the controller would refuse, so that the user gets the answer at once.
 */
export function refusalOf(rollout: Rollout, action: Action): ActionRejection | null {
  const standing = standingOf(rollout)
  return foreignRefusal(rollout) ?? momentRefusal(standing, action) ?? refusals[action.type]({ rollout, standing, action })
}

function foreignRefusal({ spec: { workloadRef } }: Rollout): ActionRejection | null {
  if (isDaemonSetRef(workloadRef)) return null
  return refused(
    'ACTION_REJECTED',
    `spec.workloadRef names a ${workloadRef.kind}: Tranche releases only DaemonSets`,
    'use the controller for this kind of workload',
  )
}

/** Refuses an action for another step, revision or release than the present one. */
function momentRefusal(standing: Standing, { type, body }: Action): ActionRejection | null {
  const { expectedStep } = body
  // For an undo, `revision` is that of the present template, with or without a running release.
  const revision = type === 'undo' ? undefined : body.revision
  if (type === 'retry' && revision !== undefined && standing.heldRevisions.includes(revision)) return null
  if (expectedStep === undefined && revision === undefined) return null
  // After the end of a release, a retry accepts failures on nodes that it had left. One that names a step was meant for the release.
  const isAccepted = type === 'retry' && hasFailedNodes(standing) && expectedStep === undefined
  if (!standing.isReleasing && !isAccepted && expectedStep !== undefined)
    return { ...movedOn(standing, `the action is meant for step ${expectedStep}`), path: 'expectedStep' }
  // Without a release and without a step, the revision that was released last means nothing more than "now": see `releaseRefusal`.
  if (revision !== undefined && revision !== standing.canaryRevision)
    return { ...movedOn(standing, `the action is meant for revision ${revision}`), path: 'revision' }
  if (expectedStep === undefined || expectedStep === standing.step) return null
  return { ...movedOn(standing, `the action is meant for step ${expectedStep}`), path: 'expectedStep' }
}

function movedOn(standing: Standing, meant: string): ActionRejection {
  return refused('MOVED_ON', `${meant}, and ${standingText(standing)}`, 'check the state of the release and decide again')
}

/** Whether the version has failed, though one of the two members that say so may be missing. */
function hasFailedNodes({ hasFailed, stalled }: Standing): boolean {
  return hasFailed || stalled === 'ReleaseFailed'
}

interface Judged {
  readonly rollout: Rollout
  readonly standing: Standing
  readonly action: Action
}

const refusals: { readonly [Type in ActionType]: (judged: Judged) => ActionRejection | null } = {
  pause: () => null,
  resume: ({ rollout, standing }) => (rollout.spec.strategy.paused === true || asksForRetry(rollout) ? null : notPaused(rollout, standing)),
  approve: ({ rollout, standing }) =>
    releaseRefusal(rollout, standing) ?? stopRefusal(rollout, standing) ?? approveRefusal(rollout, standing),
  jump: ({ rollout, standing, action }) =>
    releaseRefusal(rollout, standing) ??
    stopRefusal(rollout, standing) ??
    finishRefusal(standing) ??
    jumpRefusal(standing, action.body.step ?? 0),
  promote: ({ rollout, standing, action }) =>
    releaseRefusal(rollout, standing) ?? (isWayOut(standing, action) ? null : stopRefusal(rollout, standing)) ?? finishRefusal(standing),
  abort: ({ rollout, standing }) => releaseRefusal(rollout, standing) ?? abortRefusal(rollout, standing),
  retry: ({ rollout, standing, action }) => retryRefusal(rollout, standing, action.body.revision),
  undo: () => null,
  restart: () => null,
}

/** Whether a resume counts as a retry: after a failure or an inconclusive analysis, unless the Rollout is paused. */
export function asksForRetry(rollout: Rollout): boolean {
  const { stalled } = standingOf(rollout)
  return rollout.spec.strategy.paused !== true && (stalled === 'ReleaseFailed' || stalled === 'AnalysisInconclusive')
}

function notPaused(rollout: Rollout, standing: Standing): ActionRejection {
  const retry = commandText(rollout, 'retry')
  const fix = standing.stalled === 'RevisionHeld' ? `run ${retry} to release the blocked revision` : 'no action is needed'
  return refused('ACTION_REJECTED', `the Rollout is not paused; ${standingText(standing)}`, fix)
}

function releaseRefusal(rollout: Rollout, standing: Standing): ActionRejection | null {
  if (standing.isReleasing) return null
  const atRest =
    standing.stalled === 'ReleaseFailed'
      ? `run ${commandText(rollout, 'undo')} to release the earlier revision, or ${commandText(rollout, 'retry')} to update the nodes left all the same`
      : 'wait for the next release'
  const fix = isDeletedOrDisabled(rollout) ? whileOff(rollout) : atRest
  return refused('ACTION_REJECTED', standingText(standing), fix)
}

/** A release that ends first because the Rollout is disabled or deleted takes no action. */
function whileOff({ spec, status }: Rollout): string {
  const isEnding = status?.phase === 'Disabling' || status?.phase === 'Terminating'
  const enable = spec.disabled === true ? ['set spec.disabled to false to release in steps'] : []
  const end = isEnding ? [`set ${rolloutAnnotations.onDelete} to Freeze to leave the nodes as they are, or to Rollback to roll back`] : []
  return [...enable, ...end].join(', or ') || 'wait until the Rollout is deleted'
}

function stopRefusal(rollout: Rollout, { stalled, isBad, canaryRevision }: Standing): ActionRejection | null {
  if (!isBad && !stoppedBy.includes(stalled)) return null
  const why = valueIn(stopTexts, stalled) ?? 'is stopped by a failure'
  const fix = `run ${commandText(rollout, 'retry')} to continue anyway, or ${commandText(rollout, 'abort')} to roll back`
  return refused('ACTION_REJECTED', `revision ${canaryRevision} ${why}`, fix)
}

const stopTexts: Readonly<Record<string, string>> = { RevisionHeld: 'is blocked', AnalysisInconclusive: 'cannot be judged by its analysis' }

function isWayOut({ stalled }: Standing, { body }: Action): boolean {
  return body.full === true && stalled === 'AnalysisInconclusive'
}

function approveRefusal(rollout: Rollout, standing: Standing): ActionRejection | null {
  if (standing.stepState === 'StepPaused') return null
  if (!beforePause.includes(standing.stepState)) return movedOn(standing, `only a step in state StepPaused can be approved`)
  const { message } = rollout.status?.waitingFor ?? {}
  const why = message === undefined ? `it is in state ${standing.stepState}` : message
  const fix =
    rollout.spec.strategy.paused === true ? `it is paused: run ${commandText(rollout, 'resume')} first` : whileNotReady(rollout, standing)
  return refused('ACTION_REJECTED', `step ${standing.step} of ${standing.steps} is not ready to be approved: ${why}`, fix)
}

/** States of a step that is not ready yet. */
const beforePause: readonly string[] = ['BeforeStepUpgrade', 'StepUpgrade', 'StepTrafficRouting', 'StepMetricsAnalysis']

/** The text of the wait names the step to jump to, if any. Only the nodes decide that, and they are not among the facts here. */
function whileNotReady(rollout: Rollout, { isReturn }: Standing): string {
  const back = isReturn ? [] : [`run ${commandText(rollout, 'abort')} to roll back`]
  return ['wait until it is ready', ...back].join(', or ')
}

function finishRefusal(standing: Standing): ActionRejection | null {
  return standing.isFinishing ? refused('ACTION_REJECTED', standingText(standing), 'wait until it ends, or abort') : null
}

function jumpRefusal({ steps }: Standing, step: number): ActionRejection | null {
  if (step >= 1 && step <= steps) return null
  return {
    ...refused('ACTION_INVALID', `there is no step ${step}: the steps are 1 to ${steps}`, `name a step from 1 to ${steps}`),
    path: 'step',
  }
}

function abortRefusal(rollout: Rollout, standing: Standing): ActionRejection | null {
  if (!standing.isReturn) return null
  if (standing.stalled === 'RevisionHeld') {
    const message = `revision ${standing.canaryRevision} is blocked, and it is the stable one: there is nothing to roll back`
    const fix = `run ${commandText(rollout, 'undo')} to release the earlier revision, or ${commandText(rollout, 'retry')} to release the blocked one`
    return refused('ACTION_REJECTED', message, fix)
  }
  const message = `the release already returns to revision ${standing.canaryRevision}: there is nothing to roll back`
  const fix = `wait until it ends; if nodes keep failing on that revision, fix them, run ${commandText(rollout, 'undo')}, or apply another template`
  return refused('ACTION_REJECTED', message, fix)
}

function retryRefusal(rollout: Rollout, standing: Standing, revision: string | undefined): ActionRejection | null {
  const { isReleasing, stalled, heldRevisions } = standing
  if (hasFailedNodes(standing) || (revision !== undefined && heldRevisions.includes(revision))) return null
  if (isReleasing && liftedByRetry.includes(stalled)) return null
  const fix =
    heldRevisions.length === 0
      ? 'no action is needed'
      : `to unblock a revision, which is then released when its template is applied again, run ${retryHeldText(rollout, heldRevisions)}`
  return refused('ACTION_REJECTED', `there is no stop that a retry lifts; ${standingText(standing)}`, fix)
}
