import type { RolloutSummary } from '@tranche/api-schema'

/**
 * @returns text that changes when a release gets to another point: another phase, step, version, decision or failure. Counts of healthy nodes
 * do not change it; in a large fleet they change all the time.
 */
export function turningPointOf(summary: RolloutSummary | undefined): string {
  if (summary === undefined) return ''
  const { phase, reason, outcome, paused, disabled, step, need, waitingFor, nodes } = summary
  const { stableRevision, canaryRevision, rollbackFrom, releaseStartedAt, notBound } = summary
  const revisions = [stableRevision, canaryRevision, rollbackFrom, releaseStartedAt, notBound]
  return JSON.stringify([phase, reason, outcome, paused, disabled, step, need, waitingFor?.reason, nodes.failed, ...revisions])
}
