import type { RolloutState } from '../view/rollout-state.ts'

/** Text of a Rollout at rest about the version that its last release rolled back, and why; empty for any other release. */
export function rolledBackText({ rollbackFrom, failure, heldRevisions }: RolloutState): string {
  if (rollbackFrom === undefined) return ''
  const held = heldRevisions.find(({ revision }) => revision === rollbackFrom)
  // A failure that a retry accepted is not the reason for a later rollback.
  const isAborted = held?.reason === 'Aborted' && (failure === undefined || failure.reason === 'Accepted')
  const why = isAborted ? ' by an abort' : failure !== undefined ? ` because it failed: ${failure.message}` : ''
  return `; revision ${rollbackFrom} was rolled back${why}`
}
