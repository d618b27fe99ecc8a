import type { AcceptedActions, Failure } from '@tranche/api-schema'
import type { DaemonSet } from '@tranche/kube-types'
import type { RolloutState } from '../view/rollout-state.ts'
import { heldTemplate } from '../held/held-revisions.ts'
import { standingFailure } from '../release/release-failure.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/** Id prefix of a retry that stems from a pause, not from an action. */
export const RESUMED = 'resume-'

/**
 * A verdict waits for `resume` or `retry` (docs/reference/policy.md, failure): a pause set after the failure was reported, and then
 * removed, lifts it like a retry. An earlier pause lifts nothing when it ends, because the user who set it had not seen the failure.
 * No resume lifts a hold (G12).
 */
export function actionsAfterPause(view: RolloutView, daemonSet: DaemonSet, state: RolloutState): AcceptedActions {
  const { pause, ...actions } = state.acceptedActions
  const failure = standingFailure(view, state)
  if (failure === null || heldTemplate(state.heldRevisions, daemonSet) !== undefined) return actions
  const found = failure.at ?? ''
  const known = pause?.failure === found ? pause : undefined
  const { spec, metadata } = view.rollout
  if (spec.strategy.paused === true) return { ...actions, pause: known ?? { failure: found, lifts: wasReported(view, failure) } }
  return known?.lifts === true ? { ...actions, retry: `${RESUMED}${metadata.generation ?? 0}` } : actions
}

function wasReported({ rollout: { status } }: RolloutView, { at }: Failure): boolean {
  const isStalled = status?.conditions?.some(
    ({ type, status: value, reason }) =>
      type === 'Stalled' && value === 'True' && (reason === 'ReleaseFailed' || reason === 'AnalysisInconclusive'),
  )
  return isStalled === true && status?.failure?.stops === true && status.failure.at === at
}
