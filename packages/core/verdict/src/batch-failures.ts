import type { ReleasePlan } from '@tranche/api-schema'
import { scaleIntOrPercent } from '@tranche/kube-types'
import type { FleetView } from '@tranche/fleet'
import type { FailureTerms } from './failure-terms.ts'
import type { Suspect } from './suspects.ts'

/** Failures among the nodes that one batch brought. */
export interface BatchFailures {
  /** From 0; one above the last is what follows the last step. */
  readonly batch: number
  readonly count: number
  /** How many of them are tolerated. */
  readonly limit: number
}

/** The batch that brought a node, as the labels of its pod say; the present one while they do not. */
export function batchOfNode({ pod }: Pick<Suspect, 'pod'>, plan: ReleasePlan): number {
  const isLabelled = pod?.rolloutId !== undefined && pod.rolloutId === plan.rolloutID
  const batch = isLabelled ? Number(pod.rolloutBatchId) - 1 : Number.NaN
  return Number.isInteger(batch) && batch >= 0 ? batch : (plan.batchPartition ?? plan.batches?.length ?? 0)
}

/** Counts the failures of each batch. @param batches of the failed nodes */
export function batchFailures(
  { terms, plan, fleet }: { readonly terms: FailureTerms; readonly plan: ReleasePlan; readonly fleet: FleetView },
  batches: readonly number[],
): readonly BatchFailures[] {
  const { perBatch } = terms
  if (perBatch === null) return []
  return [...new Set(batches)].map((batch) => ({
    batch,
    count: batches.filter((other) => other === batch).length,
    limit: scaleIntOrPercent(perBatch, broughtBy(plan, batch, fleet.desired)) ?? 0,
  }))
}

/** How many nodes the batch brings beside those of the batches before it. */
function broughtBy(plan: ReleasePlan, batch: number, desired: number): number {
  return Math.max(0, sizeAfter(plan, batch, desired) - sizeAfter(plan, batch - 1, desired))
}

function sizeAfter({ batches = [] }: ReleasePlan, batch: number, desired: number): number {
  if (batch >= batches.length) return desired
  const sizes = batches.slice(0, batch + 1).map(({ canaryReplicas }) => scaleIntOrPercent(canaryReplicas, desired) ?? 0)
  return Math.min(desired, Math.max(0, ...sizes))
}
