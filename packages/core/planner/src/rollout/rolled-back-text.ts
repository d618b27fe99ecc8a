import type { RolloutState } from './rollout-state.ts'

/** What a Rollout at rest says of the version that its last release took back, and why; empty where that was none. */
export function rolledBackText({ rollbackFrom, failure, heldRevisions }: RolloutState): string {
  if (rollbackFrom === undefined) return ''
  const held = heldRevisions.find(({ revision }) => revision === rollbackFrom)
  // A failure that a retry has accepted is not why somebody took the version back afterwards.
  const isAborted = held?.reason === 'Aborted' && (failure === undefined || failure.reason === 'Accepted')
  const why = isAborted ? ' by an abort' : failure !== undefined ? `, for it failed: ${failure.message}` : ''
  return `; revision ${rollbackFrom} was taken back${why}`
}
