import type { ReleasePlan } from '@tranche/api-schema'
import { scaleIntOrPercent } from '@tranche/kube-types'
import type { FleetView } from '@tranche/fleet'
import { type CountedRelease, countedNodes } from './counted-nodes.ts'
import type { FailureTerms } from './failure-terms.ts'
import type { Suspect } from './suspects.ts'

/** Failures among the nodes that one batch updated. */
export interface BatchFailures {
  /** Index of the batch, from 0; one above the last means the nodes that follow the last step. */
  readonly batch: number
  readonly count: number
  /** Number of tolerated failures. */
  readonly limit: number
}

/** Batch that updated a node, from the labels of its pod; the present batch without them. */
export function batchOfNode({ pod }: Pick<Suspect, 'pod'>, plan: ReleasePlan): number {
  const isLabelled = pod?.rolloutId !== undefined && pod.rolloutId === plan.rolloutID
  const batch = isLabelled ? Number(pod.rolloutBatchId) - 1 : Number.NaN
  return Number.isInteger(batch) && batch >= 0 ? batch : (plan.batchPartition ?? plan.batches?.length ?? 0)
}

/** Counts the failures of each batch. @param batches batch of each failed node */
export function batchFailures(
  {
    terms,
    plan,
    fleet,
    revision,
    begunAt,
  }: { readonly terms: FailureTerms; readonly plan: ReleasePlan; readonly fleet: FleetView } & CountedRelease,
  batches: readonly number[],
): readonly BatchFailures[] {
  const { perBatch } = terms
  if (perBatch === null) return []
  const nodes = countedNodes(fleet, { revision, begunAt })
  return [...new Set(batches)].map((batch) => ({
    batch,
    count: batches.filter((other) => other === batch).length,
    limit: scaleIntOrPercent(perBatch, broughtBy(plan, batch, nodes)) ?? 0,
  }))
}

/** Number of nodes that the batch adds to those of the batches before it. */
function broughtBy(plan: ReleasePlan, batch: number, desired: number): number {
  return Math.max(0, sizeAfter(plan, batch, desired) - sizeAfter(plan, batch - 1, desired))
}

function sizeAfter({ batches = [] }: ReleasePlan, batch: number, desired: number): number {
  if (batch >= batches.length) return desired
  const sizes = batches.slice(0, batch + 1).map(({ canaryReplicas }) => scaleIntOrPercent(canaryReplicas, desired) ?? 0)
  return Math.min(desired, Math.max(0, ...sizes))
}
