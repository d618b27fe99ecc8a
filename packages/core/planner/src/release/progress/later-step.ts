import type { BatchRelease } from '@tranche/api-schema'
import { batchScope, hasOldPod, isInReach, isInSteps } from '@tranche/fence'
import type { FleetView } from '@tranche/fleet'
import { releasedRevision } from '@tranche/verdict'
import type { BatchProgress } from './batch-progress.ts'

/**
 * First step after the present one, from 1, with a node in reach that is in none of the steps so far and that the policy leaves. A jump to a
 * step before that one ends no wait for a node in reach.
 *
 * @returns undefined where no later step has such a node, as without selectors: then all steps take the same nodes
 */
export function laterStepInReach(fleet: FleetView, release: BatchRelease): number | undefined {
  const { releasePlan, tranche } = release.spec
  const { batchPartition, batches = [] } = releasePlan
  const scope = batchScope(tranche?.nodes, batchPartition ?? null)
  const canary = releasedRevision(release) ?? ''
  const revisions = { canary, stable: tranche?.stableRevision, former: tranche?.formerRevisions ?? [] }
  const steps = fleet.nodes
    .filter((node) => node.desired && !isInSteps(scope, node) && hasOldPod(node, canary) && isInReach(node, revisions))
    .map(({ labels }) => scope.rules.factsOf(labels))
    .flatMap(({ step, isExcluded }) => (isExcluded ? [] : [step]))
  const first = Math.min(...steps)
  return first < batches.length ? first + 1 : undefined
}

/**
 * Whether a jump leads past updated nodes that are not available: the plan has a later step, and these nodes leave budget for it.
 *
 * @param unavailable nodes that use up the budget
 */
export function leadsPast({ spec, status }: BatchRelease, { unavailable }: Pick<BatchProgress, 'unavailable'>): boolean {
  const { batchPartition, batches = [] } = spec.releasePlan
  return batchPartition !== undefined && batchPartition + 1 < batches.length && unavailable.length < (status?.flight?.limit ?? 0)
}
