import type { HeldRevision } from '@tranche/api-schema'
import { hashOf } from '../../release/view/discover-revisions.ts'
import { plainTemplate } from '../../release/view/stable-template.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import { templateDigest, withHeld } from '../held/held-revisions.ts'
import { standingFailure } from '../release/release-failure.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/**
 * G12: another template replaced a version that a failure had stopped, during its release or on nodes that the release had left. The version
 * is held, though it was not rolled back, so that re-applying the old manifest does not release it again. A version that the history has lost
 * cannot be held.
 */
export function heldWhenOvertaken(view: RolloutView, before: RolloutState): readonly HeldRevision[] {
  const { heldRevisions, canary } = before
  const failure = before.phase === 'Progressing' || before.phase === 'Healthy' ? standingFailure(view, before) : null
  if (failure === null || failure.reason === 'AnalysisInconclusive') return heldRevisions
  const { canaryRevision } = canary
  const found = view.revisions.find((one) => hashOf(one) === canaryRevision)
  const template = found === undefined ? null : plainTemplate(found)
  if (template === null) return heldRevisions
  const digest = templateDigest(template)
  if (heldRevisions.some((one) => one.digest === digest)) return heldRevisions
  const at = new Date(view.nowMs).toISOString()
  return withHeld(heldRevisions, { digest, revision: canaryRevision, reason: 'Failed', at, reverted: true })
}
