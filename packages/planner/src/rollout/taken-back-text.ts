import type { Course } from './course.ts'

/** What a Rollout at rest says of the version that its last release took back, and why; empty where that was none. */
export function takenBackText({ rollbackFrom, failure, heldRevisions }: Course): string {
  if (rollbackFrom === undefined) return ''
  const held = heldRevisions.find(({ revision }) => revision === rollbackFrom)
  const why = failure !== undefined ? `, for it failed: ${failure.message}` : held?.reason === 'Aborted' ? ' by an abort' : ''
  return `; revision ${rollbackFrom} was taken back${why}`
}
