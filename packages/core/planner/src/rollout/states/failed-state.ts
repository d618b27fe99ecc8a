import type { Failure, Rollout } from '@tranche/api-schema'
import { type DaemonSet, rolloutAnnotations } from '@tranche/kube-types'
import { commandText } from '../view/command-text.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import { afterPause, heldState } from './held-state.ts'
import { withRolledBack } from '../held/held-revisions.ts'
import { toHeldRevision } from '../held/to-held-revision.ts'
import { isDeletedOrDisabled, waitsForResume } from '../held/on-delete.ts'
import { asksForRollback, whyNoRollback } from '../release/release-failure.ts'
import { policyInUse, policyTerms } from '../view/release-policy.ts'
import { summarizeBatchRelease } from '../release/batch-release-summary.ts'
import { isReturn } from '../release/release-spec.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/**
 * The new version is bad. By the policy's failure.action it is rolled back like an abort, or the release waits for a person.
 * It is reported as stalled when nothing can be deleted for it any more (G9), not when the verdict was reached.
 */
export function failedState(view: RolloutView, daemonSet: DaemonSet, state: RolloutState, failure: Failure): RolloutState {
  const said = { ...state, failure }
  const isRolledBack = asksForRollback(failure) && !isReturn(state.canary)
  if (isRolledBack && whyNoRollback(view, state) === null && !waitsForResume(view.rollout)) {
    const { canaryRevision: revision, stableRevision: stable } = state.canary
    const held = { ...toHeldRevision(view, daemonSet, { revision, stable }), reason: 'Failed' } as const
    return heldState(
      view,
      daemonSet,
      { ...said, heldRevisions: withRolledBack(view, state.heldRevisions, { one: held, stable: state.canary.stableRevision }) },
      held,
    )
  }
  const reason = state.reason === null || state.reason === 'Paused' ? 'InRolling' : state.reason
  const stalled = failedStall(view, state, failure)
  if (summarizeBatchRelease(view).stopped) return { ...said, reason, message: stalled.message, stalled }
  return { ...said, reason, message: `${seenText(view, state, failure)}; waiting until no deletion can be accepted any more` }
}

/** Reports the failure, what is done about it, and what a user can do. */
function failedStall(view: RolloutView, state: RolloutState, failure: Failure): NonNullable<RolloutState['stalled']> {
  return {
    reason: failure.reason === 'AnalysisInconclusive' ? 'AnalysisInconclusive' : 'ReleaseFailed',
    message: `${seenText(view, state, failure)}; ${wayOut(view, state, failure)}${rollbackText(view, state, failure)}`,
  }
}

function seenText(view: RolloutView, { canary: { canaryRevision } }: Pick<RolloutState, 'canary'>, { reason, message }: Failure): string {
  if (reason === 'AnalysisInconclusive')
    return `the analysis does not show whether revision ${canaryRevision} is healthy: ${message}${policyText(view)}`
  return `revision ${canaryRevision} failed: ${message}${reason === 'AnalysisFailed' ? policyText(view) : ''}`
}

/** Names the ReleasePolicy that holds the analysis conditions. */
function policyText(view: RolloutView): string {
  const policy = policyInUse(view)
  return policy === undefined ? '' : ` (ReleasePolicy ${policy.name})`
}

/** Says why a version that should be rolled back is not. */
function rollbackText(view: RolloutView, state: RolloutState, failure: Failure): string {
  if (!asksForRollback(failure) || isReturn(state.canary)) return ''
  const whyNot = whyNoRollback(view, state)
  if (whyNot !== null) return `; failure.action is Rollback, and ${whyNot}`
  return `; failure.action is Rollback: ${afterPause(view)}`
}

function wayOut(view: RolloutView, { canary }: Pick<RolloutState, 'canary'>, { reason, limit = 0 }: Failure): string {
  const stopped = 'no more pods are deleted for it'
  const back = wayBack(view, canary)
  if (reason === 'AnalysisInconclusive') {
    const skip = `${commandText(view.rollout, 'promote', '--full')} to skip the analysis`
    return `${stopped}; run ${commandText(view.rollout, 'retry')} to measure again, ${skip}, or ${back}; or apply another template`
  }
  const { autoResume } = policyTerms(view).failure ?? {}
  const byItself = autoResume === undefined ? '' : `; ${resumeText(view, limit, autoResume)}`
  return `${stopped}; run ${commandText(view.rollout, 'retry')} to continue all the same, or ${back}; or apply another template${byItself}`
}

function resumeText(view: RolloutView, limit: number, autoResume: string): string {
  // No other BatchRelease has followed the nodes since the verdict.
  if (summarizeBatchRelease(view).failure === null)
    return 'failure.autoResume does not apply, because its BatchRelease has lost the failure'
  return `it continues by itself when no more than ${limit} nodes have failed for ${autoResume} (failure.autoResume)`
}

function wayBack({ rollout }: RolloutView, canary: RolloutState['canary']): string {
  if (isDeletedOrDisabled(rollout)) return onDeleteText(rollout)
  // The stable revision itself: there is nothing to abort.
  if (isReturn(canary)) return `${commandText(rollout, 'undo')} to release the earlier revision`
  return `${commandText(rollout, 'abort')} to roll back`
}

/** An abort is rejected while the Rollout is disabled or deleted. */
function onDeleteText({ metadata: { namespace = '', name } }: Rollout): string {
  return `kubectl annotate rollouts.rollouts.kruise.io ${name} -n ${namespace} ${rolloutAnnotations.onDelete}=Rollback --overwrite to roll back first, or =Freeze to leave the nodes as they are`
}
