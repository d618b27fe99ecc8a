import type { RevisionReport } from '@tranche/api-schema'

/** Two revisions that are compared, by hash. */
export interface RevisionPair {
  readonly from: string
  readonly to: string
}

/**
 * Chooses what a user most likely compares: the stable with the canary revision; if they are the same, the previous with the newest one.
 *
 * @param revisions newest first. @returns undefined with fewer than two revisions
 */
export function defaultPair(revisions: readonly RevisionReport[]): RevisionPair | undefined {
  const stable = revisions.find(({ role }) => role === 'stable')
  const canary = revisions.find(({ role }) => role === 'canary')
  if (stable !== undefined && canary !== undefined) return { from: stable.revision, to: canary.revision }
  const [newest, previous] = revisions
  return newest === undefined || previous === undefined ? undefined : { from: previous.revision, to: newest.revision }
}
