import type { RolloutReport } from '@tranche/api-schema'

/** Most nodes that were unavailable at a time, as far as this page has seen the release. */
export interface BudgetPeak {
  /** Identifies the release: another one begins at zero. */
  readonly release: string
  readonly nodes: number
  /** Since when the page has watched, in epoch milliseconds. */
  readonly sinceMs: number
}

/** @returns `peak` itself if the report changes nothing; undefined without a running release and before the first */
export function observePeak(
  peak: BudgetPeak | undefined,
  { budget, releaseStartedAt, canaryRevision = '' }: Pick<RolloutReport, 'budget' | 'releaseStartedAt' | 'canaryRevision'>,
  nowMs: number,
): BudgetPeak | undefined {
  if (budget === undefined || releaseStartedAt === undefined) return peak
  const release = `${canaryRevision} ${releaseStartedAt}`
  const nodes = budget.ours + budget.others + budget.unreachable - budget.exempt
  if (peak?.release !== release) return { release, nodes, sinceMs: nowMs }
  return nodes > peak.nodes ? { ...peak, nodes } : peak
}
