import type { HeldRevision } from '@tranche/api-schema'
import type { DaemonSet } from '@tranche/kube-types'
import { countUpdated } from '../updated-nodes.ts'
import type { Course } from './course.ts'
import { isReverted } from './held-revisions.ts'
import { templateToPutBack } from './plan-revert.ts'
import type { RolloutView } from './rollout-view.ts'

/**
 * G12: the template of the DaemonSet is held, so nothing is released. The stable template is put back first, where that was
 * asked for and is still to be done; after that somebody must say how to go on.
 */
export function heldCourse(view: RolloutView, daemonSet: DaemonSet, course: Course, held: HeldRevision): Course {
  const { canary } = course
  const isSeen = held.reverted === false && isReverted(daemonSet, held)
  const heldRevisions = course.heldRevisions.map((one) => (isSeen && one.digest === held.digest ? { ...one, reverted: true } : one))
  const reason = course.reason === null || course.reason === 'Paused' ? 'InRolling' : course.reason
  const standing = { ...course, heldRevisions, reason }
  const canRevert = templateToPutBack(view, canary.stableRevision) !== null
  if (!isReverted(daemonSet, held) && canRevert) {
    const message = `taking revision ${canary.canaryRevision} back: the template of revision ${canary.stableRevision} is put back`
    return { ...standing, message }
  }
  const why = isReverted(daemonSet, held)
    ? 'its template was applied again'
    : `revision ${canary.stableRevision}, which ran before, is no longer in the history`
  const message = heldText(held, why)
  return {
    ...standing,
    message: `${message}; ${countUpdated(view.fleet, canary.canaryRevision).updated} of ${view.fleet.desired} nodes run it`,
    stalled: { reason: 'RevisionHeld', message },
  }
}

/** Says why nothing is released, and what lifts it. */
function heldText({ revision, reason, at }: HeldRevision, why: string): string {
  return (
    `revision ${revision} ${reason === 'Failed' ? 'failed' : 'was taken back'} at ${at}, and ${why}: nothing is deleted for it; ` +
    'to release it after all write the action retry, else apply another template'
  )
}
