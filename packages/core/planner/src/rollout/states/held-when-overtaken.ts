import type { Failure, HeldRevision } from '@tranche/api-schema'
import { hashOf } from '../../release/view/discover-revisions.ts'
import { plainTemplate } from '../../release/view/stable-template.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import { templateDigest, withHeld } from '../held/held-revisions.ts'
import { isOff, reportedFailure, standingFailure } from '../release/release-failure.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/**
 * G12: another template replaced a version that a failure had stopped, during its release or on nodes that the release had left. The version
 * is held, though it was not rolled back, so that re-applying the old manifest does not release it again. The old manifest may be back before
 * a pass has read the other one. A version that the history has lost, as with a DaemonSet that was created again, can be held while the status
 * has its digest.
 */
export function heldWhenOvertaken(view: RolloutView, before: RolloutState): readonly HeldRevision[] {
  const { heldRevisions, canary } = before
  const failure = failureInForce(view, before)
  if (failure === null || failure.reason === 'AnalysisInconclusive') return heldRevisions
  const { canaryRevision } = canary
  const digest = digestOf(view, canaryRevision)
  if (digest === undefined || heldRevisions.some((one) => one.digest === digest)) return heldRevisions
  const at = new Date(view.nowMs).toISOString()
  return withHeld(heldRevisions, { digest, revision: canaryRevision, reason: 'Failed', at, reverted: true })
}

/** Its template's digest. That of the released revision, which may be the stable one, is in the status, whatever the history has lost. */
function digestOf({ revisions, rollout: { status } }: RolloutView, revision: string): string | undefined {
  const found = revisions.find((one) => hashOf(one) === revision)
  const template = found === undefined ? null : plainTemplate(found)
  if (template !== null) return templateDigest(template)
  return status?.canaryStatus?.canaryRevision === revision ? status.canaryDigest : undefined
}

/** By the BatchRelease, else by the status. */
function failureInForce(view: RolloutView, before: RolloutState): Failure | null {
  const { phase } = before
  // While a Rollout is being disabled, its BatchRelease may be gone already, or judge no more.
  if (phase === 'Progressing' || phase === 'Healthy') return standingFailure(view, before) ?? reportedFailure(view, before)
  return isOff(phase) ? reportedFailure(view, before) : null
}
