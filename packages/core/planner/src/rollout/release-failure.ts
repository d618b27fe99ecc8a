import type { Failure } from '@tranche/api-schema'
import type { RolloutState } from './rollout-state.ts'
import { whyNoTemplate } from './plan-revert.ts'
import { releaseReport } from './release-report.ts'
import { isReturn } from './release-spec.ts'
import type { RolloutView } from './rollout-view.ts'

type Standing = Pick<RolloutState, 'canary' | 'acceptedActions'>

/**
 * The verdict that stops the release which runs; null where none does, and where somebody has accepted it with a retry that
 * the BatchRelease has yet to hear of. On the way back nothing stops: what ran before is better than what is taken back.
 */
export function standingFailure(view: RolloutView, { canary, acceptedActions }: Standing): Failure | null {
  const { failure } = releaseReport(view)
  if (failure?.stops !== true || isReturn(canary)) return null
  return failure.retry === acceptedActions.retry ? failure : null
}

/**
 * What the status should say of failures: those of the release that runs, whether they stop it or not; on the way back, and
 * while a revision is held, why it was taken back.
 */
export function failureToSay(view: RolloutView, { canary, failure, heldRevisions, rollbackFrom }: RolloutState): Failure | undefined {
  const { failure: reported } = releaseReport(view)
  const isHeld = heldRevisions.some(({ revision }) => revision === canary.canaryRevision)
  if (isHeld || rollbackFrom !== undefined || isReturn(canary)) return failure ?? reported ?? undefined
  return reported === null || reported.reason === 'Accepted' ? undefined : reported
}

/** The policy asks for the version to be taken back, which a verdict that nobody could reach never does. */
export function asksForRollback({ action, reason }: Failure): boolean {
  return action === 'Rollback' && reason !== 'AnalysisInconclusive'
}

/** Why the stable template cannot be put back; null where it can. */
export function whyNoRollback(view: RolloutView, { canary: { stableRevision = '' } }: Pick<RolloutState, 'canary'>): string | null {
  return whyNoTemplate(view, stableRevision)
}
