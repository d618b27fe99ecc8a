import type { HeldRevision } from '@tranche/api-schema'
import { parseTime, rolloutAnnotations } from '@tranche/kube-types'
import type { RolloutState } from '../view/rollout-state.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/** Text of a Rollout at rest about the version that its last release rolled back, and why; empty for any other release. */
export function rolledBackText(view: RolloutView, { rollbackFrom, failure, heldRevisions }: RolloutState): string {
  if (rollbackFrom === undefined) return ''
  const held = heldRevisions.find(({ revision }) => revision === rollbackFrom)
  // A failure that a retry accepted is not the reason for a later rollback.
  const isAsked = held?.reason === 'Aborted' && (failure === undefined || failure.reason === 'Accepted')
  const why = isAsked ? askedText(view, held) : failure !== undefined ? ` because it failed: ${failure.message}` : ''
  return `; revision ${rollbackFrom} was rolled back${why}`
}

/**
 * A user aborts a release, or disables the Rollout with an annotation that rolls it back. The answer to an abort has the time of the hold.
 * Only the latest answer is known: after another one, the cause is not.
 */
function askedText({ rollout }: RolloutView, { at }: HeldRevision): string {
  const { lastAction } = rollout.status ?? {}
  const onDelete = `${rolloutAnnotations.onDelete}=Rollback`
  const heldMs = parseTime(at)
  const answeredMs = parseTime(lastAction?.at)
  if (heldMs === null || (answeredMs !== null && answeredMs > heldMs)) return ` by an abort or ${onDelete}`
  if (answeredMs === heldMs && lastAction?.type === 'abort') return ' by an abort'
  return ` because the Rollout was ${rollout.metadata.deletionTimestamp === undefined ? 'disabled' : 'deleted'} (${onDelete})`
}
