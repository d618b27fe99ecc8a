import type { BatchRelease, Rollout } from '@tranche/api-schema'
import { isSameJson } from '@tranche/kube-types'
import { type BatchReach, batchReach } from '../../release/progress/batch-reach.ts'
import { nodeRulesFor } from '../view/release-policy.ts'
import type { RolloutView } from '../view/rollout-view.ts'
import { isForeign } from './batch-release-summary.ts'
import { batchesOf } from './release-spec.ts'

/** The BatchRelease of the Rollout, which has its plan; null where it is gone, another owner's, or pruned by other definitions. */
export function planThatRuns(view: RolloutView): BatchRelease | null {
  const { release } = view
  return release === undefined || isForeign(view) || release.spec.tranche?.release === undefined ? null : release
}

/** Whether the plan that runs has the steps of the Rollout. */
export function hasPlan({ spec: { releasePlan, tranche } }: BatchRelease, rollout: Rollout): boolean {
  const selected = nodeRulesFor(rollout, undefined)?.steps ?? []
  return isSameJson(releasePlan.batches ?? [], batchesOf(rollout)) && isSameJson(tranche?.nodes?.steps ?? [], selected)
}

/** What its present batch opened. */
export function openedByPlan(view: RolloutView, running: BatchRelease): BatchReach {
  return reachOf(view, running, running.spec.releasePlan.batchPartition ?? -1)
}

/** What each of its batches before the present one opened: their pauses are over. */
export function passedByPlan(view: RolloutView, running: BatchRelease): readonly BatchReach[] {
  return Array.from({ length: running.spec.releasePlan.batchPartition ?? 0 }, (_, batch) => reachOf(view, running, batch))
}

/** Whether its batches select nodes. */
export function planSelectsNodes({ spec }: BatchRelease): boolean {
  return (spec.tranche?.nodes?.steps ?? []).length > 0
}

function reachOf({ fleet }: RolloutView, { spec: { releasePlan: plan, tranche } }: BatchRelease, batch: number): BatchReach {
  return batchReach(fleet, { plan, nodes: tranche?.nodes, batch })
}
