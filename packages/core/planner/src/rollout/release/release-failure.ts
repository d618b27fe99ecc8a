import type { Failure } from '@tranche/api-schema'
import { isAfterEnd } from '@tranche/verdict'
import type { RolloutState } from '../view/rollout-state.ts'
import { whyNoTemplate } from '../held/plan-revert.ts'
import { summarizeBatchRelease } from './batch-release-summary.ts'
import { lostFailure } from './lost-failure.ts'
import { partsOfReleaseId } from './release-id.ts'
import { isReturn } from './release-spec.ts'
import type { RolloutView } from '../view/rollout-view.ts'

type ActionContext = Pick<RolloutState, 'canary' | 'acceptedActions'>
type ReportedContext = ActionContext & Pick<RolloutState, 'phase' | 'failure' | 'rollbackFrom'>

/**
 * The verdict that stops the present release; null without one, or where a user accepted it with a retry that the
 * BatchRelease has yet to receive. Nothing stops a rollback: the former version is better than the one being rolled back.
 */
export function standingFailure(view: RolloutView, { canary, acceptedActions }: ActionContext): Failure | null {
  const failure = knownOrLost(view, { acceptedActions })
  if (failure?.stops !== true || (isReturn(canary) && !hasLeftNodes(view))) return null
  return failure.retry === acceptedActions.retry ? failure : null
}

/** The failure of the present release, by its BatchRelease; by the status where that one is gone. */
function knownOrLost(view: RolloutView, state: Pick<RolloutState, 'acceptedActions'>): Failure | null {
  return summarizeBatchRelease(view).failure ?? lostFailure(view, state)
}

/**
 * The failure that the status says has stopped the version. It counts where the BatchRelease is gone, because another client deleted it or the
 * Rollout was disabled.
 */
export function reportedFailure({ rollout }: RolloutView, state: ReportedContext): Failure | null {
  const { phase, failure, canary, acceptedActions, rollbackFrom } = state
  if (failure?.stops !== true || failure.retry !== acceptedActions.retry) return null
  if (partsOfReleaseId(failure.release).revision !== canary.canaryRevision) return null
  const stalled = rollout.status?.conditions?.find(({ type }) => type === 'Stalled')
  const isStopped = stalled?.status === 'True' && stalled.reason === 'ReleaseFailed'
  // Its next BatchRelease has yet to judge the nodes left.
  const isBegunAgain = phase === 'Progressing' && isReturn(canary) && rollbackFrom === undefined
  return isStopped || isBegunAgain || isOff(phase) ? failure : null
}

/** Whether the Rollout is disabled, or was when its status was written. */
export function isOff(phase: RolloutState['phase']): boolean {
  return phase === 'Disabling' || phase === 'Disabled'
}

/** Whether only nodes that a release had left are still to be updated. */
function hasLeftNodes({ release }: RolloutView): boolean {
  return release !== undefined && isAfterEnd(release)
}

/**
 * The failure to report: that of the present release, whether it stops it or not; during a rollback, and while a revision is
 * held, the reason for the rollback.
 */
export function failureToSay(view: RolloutView, state: RolloutState): Failure | undefined {
  const { canary, failure, heldRevisions, rollbackFrom } = state
  const reported = knownOrLost(view, state)
  const isHeld = heldRevisions.some(({ revision }) => revision === canary.canaryRevision)
  if (isHeld || rollbackFrom !== undefined || isReturn(canary)) return failure ?? reported ?? undefined
  return reported === null || reported.reason === 'Accepted' ? undefined : reported
}

/** Whether the policy asks for a rollback. An inconclusive analysis never does. */
export function asksForRollback({ action, reason }: Failure): boolean {
  return action === 'Rollback' && reason !== 'AnalysisInconclusive'
}

/** Why the stable template cannot be restored; null where it can. */
export function whyNoRollback(view: RolloutView, { canary: { stableRevision = '' } }: Pick<RolloutState, 'canary'>): string | null {
  return whyNoTemplate(view, stableRevision)
}
