import type { HeldBy } from '@tranche/api-schema'
import type { RolloutState } from '../view/rollout-state.ts'
import { isForeign } from '../release/batch-release-summary.ts'
import { isHoldForFailure } from '../release/lost-failure.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/**
 * The hold that must stop the BatchRelease before the status may say that a revision is held (G9, G12): readers of that
 * status may rely on no further deletion. Null where the next state holds nothing new.
 */
export function newHold(before: RolloutState, { heldRevisions }: RolloutState): HeldBy | null {
  const known = new Set(before.heldRevisions.map(({ digest }) => digest))
  const revision = heldRevisions.find(({ digest }) => !known.has(digest))?.revision
  return revision === undefined ? null : { reason: 'RevisionHeld', id: revision, message: `revision ${revision} is being rolled back` }
}

/** The state while the new hold is not in force yet: everything else stays as reported. */
export function heldUp(before: RolloutState, { id }: HeldBy, { goesOn, failure, obstacle, stalled }: RolloutState): RolloutState {
  const why = failure === undefined ? '' : `revision ${id} failed: ${failure.message}; `
  const standing = obstacle === null ? before : { ...before, obstacle, stalled }
  const known = failure ?? before.failure
  return {
    ...standing,
    goesOn,
    failure: known,
    message: `${why}rolling back revision ${id}: waiting until no deletion can be accepted any more`,
  }
}

/** Whether nothing can be deleted for the revision any more, whichever process was frozen before a write. A hold for a verdict does the same. */
export function isStoppedWith({ id }: HeldBy, view: RolloutView): boolean {
  const { release } = view
  if (release === undefined || isForeign(view)) return true
  const { metadata, spec, status } = release
  const record = status?.flight
  if (metadata.deletionTimestamp !== undefined) return record === undefined || record.state === 'stopped'
  // One that other definitions have pruned does not say which revision it releases.
  if (spec.tranche?.canaryRevision !== undefined && spec.tranche.canaryRevision !== id) return true
  const hold = spec.tranche?.hold
  const isHeld = hold?.id === id || isHoldForFailure(view, hold)
  if (!isHeld || status?.observedGeneration !== metadata.generation) return false
  return record === undefined || (record.state === 'stopped' && record.holds.length > 0)
}
