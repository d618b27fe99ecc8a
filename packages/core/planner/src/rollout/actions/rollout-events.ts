import type { RolloutStatus } from '@tranche/api-schema'
import { acceptedActionsOf } from '../view/accepted-actions.ts'
import type { PlannedEvent } from '../view/rollout-plan.ts'
import { isFinalising } from '../release/release-spec.ts'
import { RESUMED } from './actions-after-pause.ts'

/**
 * Events for a change of status: one for each phase, step, pause and stall reason that starts, and for each answered action.
 * A user's write that was rejected gets a Warning.
 */
export function rolloutEvents(before: RolloutStatus | undefined, after: RolloutStatus, warning: string | null): readonly PlannedEvent[] {
  return [
    ...rejectionEvents(warning),
    ...actionEvents(before, after),
    ...failureEvents(before, after),
    ...stallEvents(before, after),
    ...phaseEvents(before, after),
    ...stepEvents(before, after),
    ...policyEvents(before, after),
    ...usabilityEvents(before, after),
    ...mismatchEvents(before, after),
    ...configEvents(before, after),
  ]
}

function rejectionEvents(warning: string | null): PlannedEvent[] {
  return warning === null ? [] : [{ type: 'Warning', reason: 'ActionRejected', message: warning }]
}

function actionEvents(before: RolloutStatus | undefined, after: RolloutStatus): PlannedEvent[] {
  const answer = newAnswer(before, after)
  if (answer === null) return []
  const { id, type, by, reason, result } = answer
  const message = `${type === '' ? 'action' : type} (id ${id})${by === undefined ? '' : ` by ${by}`}${reason === undefined ? '' : `: ${reason}`}`
  return result === 'Accepted'
    ? [{ type: 'Normal', reason: 'ActionAccepted', message }]
    : [{ type: 'Warning', reason: 'ActionRejected', message }]
}

/** @returns the answer in a change of status; includes the rejection of an answered id with other content */
export function newAnswer(
  before: RolloutStatus | undefined,
  { lastAction }: RolloutStatus,
): NonNullable<RolloutStatus['lastAction']> | null {
  if (lastAction === undefined) return null
  const { id, type, at } = before?.lastAction ?? {}
  return lastAction.id === id && lastAction.type === type && lastAction.at === at ? null : lastAction
}

/** A version that is rolled back at once, or continues in spite of the failure, is never reported as stalled. */
function failureEvents(before: RolloutStatus | undefined, after: RolloutStatus): PlannedEvent[] {
  return [...rollbackEvents(before, after), ...continueEvents(before, after), ...resumeEvents(before, after)]
}

/** The end of a pause reports that it lifted a failure. */
function resumeEvents(before: RolloutStatus | undefined, after: RolloutStatus): PlannedEvent[] {
  const { retry } = acceptedActionsOf(after)
  if (retry?.startsWith(RESUMED) !== true || retry === acceptedActionsOf(before).retry) return []
  const lifted = before?.failure === undefined ? '' : `: ${before.failure.message}`
  return [{ type: 'Normal', reason: 'ActionAccepted', message: `spec.strategy.paused was cleared, which lifts the failure${lifted}` }]
}

function continueEvents(before: RolloutStatus | undefined, { failure }: RolloutStatus): PlannedEvent[] {
  if (failure?.action !== 'Continue' || (before?.failure?.action === 'Continue' && before.failure.release === failure.release)) return []
  return [{ type: 'Warning', reason: 'ReleaseFailed', message: `${failure.message}; failure.action is Continue, so the release continues` }]
}

function rollbackEvents(before: RolloutStatus | undefined, after: RolloutStatus): PlannedEvent[] {
  // A failure that was reported as stalled needs no second event when another template replaces it.
  if (conditionOf(before, 'Stalled')?.reason === 'ReleaseFailed') return []
  const known = new Set(before?.heldRevisions?.map(({ digest, at }) => `${digest} ${at}`))
  return (after.heldRevisions ?? [])
    .filter(({ reason, digest, at }) => reason === 'Failed' && !known.has(`${digest} ${at}`))
    .map(({ revision }) => {
      const seen = after.failure === undefined ? '' : `: ${after.failure.message}`
      return { type: 'Warning', reason: 'ReleaseFailed', message: `revision ${revision} failed${seen}; it is rolled back` }
    })
}

function stallEvents(before: RolloutStatus | undefined, after: RolloutStatus): PlannedEvent[] {
  const [was, is] = [conditionOf(before, 'Stalled'), conditionOf(after, 'Stalled')]
  if (is === undefined || is.status !== 'True' || (was?.status === 'True' && was.reason === is.reason)) return []
  return [{ type: 'Warning', reason: is.reason, message: is.message }]
}

function phaseEvents(before: RolloutStatus | undefined, after: RolloutStatus): PlannedEvent[] {
  const [was, is] = [conditionOf(before, 'Progressing')?.reason, conditionOf(after, 'Progressing')?.reason]
  if (before?.phase === after.phase && was === is) return []
  const message = after.message ?? ''
  // A held template starts nothing; its hold has its own event.
  if (is === 'Initializing' && conditionOf(after, 'Stalled')?.reason === 'RevisionHeld') return []
  if (is === 'Initializing' && after.rollbackFrom === undefined) return [{ type: 'Normal', reason: 'ReleaseStarted', message }]
  if (is === 'Initializing' || (is === 'Cancelling' && was !== 'Paused')) return [{ type: 'Normal', reason: 'RollbackStarted', message }]
  if (is === 'Paused') return [{ type: 'Normal', reason: 'Paused', message: after.message ?? '' }]
  if (was === 'Paused' && after.phase === 'Progressing') return [{ type: 'Normal', reason: 'Resumed', message: after.message ?? '' }]
  if (is === 'Completed' && was !== undefined && was !== 'Completed')
    return [{ type: 'Normal', reason: after.rollbackFrom === undefined ? 'ReleaseCompleted' : 'RollbackCompleted', message }]
  return []
}

function stepEvents(before: RolloutStatus | undefined, after: RolloutStatus): PlannedEvent[] {
  const [was, is] = [before?.canaryStatus, after.canaryStatus]
  // After the last step none starts, even where nodes return.
  if (is === undefined || after.phase !== 'Progressing' || isFinalising(is)) return []
  if (was?.currentStepState === is.currentStepState && was.currentStepIndex === is.currentStepIndex) return []
  if (is.currentStepState === 'StepPaused') return [{ type: 'Normal', reason: 'StepPaused', message: after.message ?? '' }]
  if (is.currentStepState === 'StepMetricsAnalysis') return [{ type: 'Normal', reason: 'StepSoaking', message: after.message ?? '' }]
  // An early approval that was put back starts nothing.
  const isPutBack = was?.currentStepIndex === is.currentStepIndex && was.currentStepState === 'StepReady'
  if (is.currentStepState === 'StepUpgrade' && !isPutBack) return [{ type: 'Normal', reason: 'StepStarted', message: after.message ?? '' }]
  return []
}

/** The policy of a release changed during it. */
function policyEvents(before: RolloutStatus | undefined, after: RolloutStatus): PlannedEvent[] {
  const [was, is] = [before?.policy, after.policy]
  const isSame = was?.name === is?.name && was?.generation === is?.generation
  if (isSame || after.phase !== 'Progressing' || before?.phase !== 'Progressing' || (is !== undefined && is.generation === undefined))
    return []
  const message =
    is === undefined
      ? `the release no longer follows ReleasePolicy ${was?.name}; the defaults apply`
      : `the release follows generation ${is.generation} of ReleasePolicy ${is.name}`
  return [{ type: 'Normal', reason: 'PolicyChanged', message }]
}

/** A policy that stalls the release is reported by the stall. */
function usabilityEvents(before: RolloutStatus | undefined, { policy }: RolloutStatus): PlannedEvent[] {
  const isKnown = before?.policy?.message !== undefined && before.policy.generation === policy?.generation
  if (policy?.message === undefined || policy.generation === undefined || isKnown) return []
  return [{ type: 'Warning', reason: 'PolicyUnusable', message: policy.message }]
}

/** F15. */
function mismatchEvents(before: RolloutStatus | undefined, { stableMismatch, stableRevision }: RolloutStatus): PlannedEvent[] {
  if (stableMismatch === undefined || stableMismatch === before?.stableMismatch) return []
  const message =
    `ControllerRevision ${stableMismatch} of the stable revision ${stableRevision} does not hold the template that last became stable ` +
    '(status.stableDigest), so it is never put back. To roll back, apply the template of the last good version. If revisionHistoryLimit ' +
    'does not explain this, look in the audit log for the user who wrote that ControllerRevision'
  return [{ type: 'Warning', reason: 'StableRevisionChanged', message }]
}

/** A change of the objects is reported too; the end of the condition has no event. A stall because of config has its own event. */
function configEvents(before: RolloutStatus | undefined, after: RolloutStatus): PlannedEvent[] {
  const [was, is] = [conditionOf(before, 'ConfigUnversioned'), conditionOf(after, 'ConfigUnversioned')]
  if (is === undefined || (was?.status === is.status && was.message === is.message)) return []
  if (conditionOf(after, 'Stalled')?.reason === 'ConfigUnpinned') return []
  return [{ type: is.status === 'True' ? 'Warning' : 'Normal', reason: 'ConfigUnversioned', message: is.message }]
}

function conditionOf(
  status: RolloutStatus | undefined,
  type: string,
): { readonly status: string; readonly reason: string; readonly message: string } | undefined {
  return status?.conditions?.find((condition) => condition.type === type)
}

/** @returns the warning that the API server drops Tranche fields, for a Rollout whose status must not be written */
export function outdatedEvent(schemaGap: string): PlannedEvent {
  return { type: 'Warning', reason: 'CRDOutdated', message: schemaGap }
}
