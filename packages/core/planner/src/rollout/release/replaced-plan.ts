import type { BatchRelease, CanaryStatus, Rollout } from '@tranche/api-schema'
import { countUpdated, updatedPod } from '@tranche/fence'
import type { NodeView } from '@tranche/fleet'
import { type DaemonSet, isSameJson } from '@tranche/kube-types'
import { type BatchReach, batchReach, isWithinReach } from '../../release/progress/batch-reach.ts'
import { toPublishedTarget } from '../../release/view/to-published-target.ts'
import { nodeRulesFor } from '../view/release-policy.ts'
import { rolloutHash } from '../view/rollout-hash.ts'
import { stepNodesDigest } from '../view/step-nodes.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import type { RolloutView } from '../view/rollout-view.ts'
import { isForeign } from './batch-release-summary.ts'
import { openedWhenFrozen } from './frozen-release.ts'
import { releaseId } from './release-id.ts'
import { batchesOf, isFinalising, isWithinSteps, stepReach, stepsOf } from './release-spec.ts'

/**
 * The step of a replacing plan at which the release continues (G3).
 * - The present step opens less than was opened before: the last step that opens nothing more. Of several that open the same,
 *   the first, so that no pause is skipped. Without its BatchRelease it is not known well enough what was opened: the present step.
 * - It opens more: the first step that opens at least as much. That may be the present one.
 * - Where steps select nodes, an earlier step that has others to update comes first, with its pause.
 * - The present one begins again if it has nodes left to update, though it has waited: its soak and pause were for other nodes.
 * - Null where the present step continues unchanged, the plan is the same, or the steps are over.
 */
export function stepOfReplacedPlan(view: RolloutView, { canary }: Pick<RolloutState, 'canary'>): number | null {
  if (isFinalising(canary) || !isWithinSteps(view.rollout, canary)) return null
  const { currentStepIndex: present, canaryRevision } = canary
  const opened = openedBefore(view, canary)
  if (opened === null) return null
  const reach = stepReach(view, present)
  const isMore = isWithinReach(opened, reach)
  if (isMore && isWithinReach(reach, opened)) return null
  const undone = undoneStep(view, opened, canary)
  if (undone !== undefined) return undone
  const restarted = isPastUpgrade(canary) && updatedIn(reach.nodes, canaryRevision).length < reach.size ? present : null
  if (isMore) {
    const first = stepsOf(view.rollout).findIndex((_, at) => isWithinReach(opened, stepReach(view, at + 1))) + 1
    return first < present ? first : restarted
  }
  const fitting = planThatRuns(view) === null ? present : fittingStep(view, asUpdated(view, opened, canaryRevision))
  return fitting > present ? fitting : restarted
}

/** First step before the present one that has nodes to update which the replaced plan had not opened; only where steps select nodes. */
function undoneStep(
  view: RolloutView,
  opened: BatchReach,
  { currentStepIndex: present, canaryRevision }: CanaryStatus,
): number | undefined {
  if (!selectsNodes(view.rollout)) return undefined
  const earlier = stepsOf(view.rollout).slice(0, present - 1)
  const at = earlier.findIndex((_, index) => {
    const reach = stepReach(view, index + 1)
    return !isWithinReach(reach, opened) && updatedIn(reach.nodes, canaryRevision).length < reach.size
  })
  return at === -1 ? undefined : at + 1
}

/** Whether all nodes of the step are updated: it soaks, pauses, or was approved. */
function isPastUpgrade({ currentStepState }: CanaryStatus): boolean {
  return currentStepState === 'StepMetricsAnalysis' || currentStepState === 'StepPaused' || currentStepState === 'StepReady'
}

/** The last step, from 1, that opens no more than was opened; of several that open the same, the first. */
function fittingStep(view: RolloutView, opened: BatchReach): number {
  const reaches = stepsOf(view.rollout).map((_, at) => stepReach(view, at + 1))
  const last = reaches.findLast((reach) => isWithinReach(reach, opened))
  return last === undefined ? 1 : reaches.findIndex((reach) => isWithinReach(last, reach)) + 1
}

/** The step at which a release continues whose step was removed from the spec: it opens no more than was opened. */
export function stepInsteadOfRemoved(view: RolloutView, { canary }: Pick<RolloutState, 'canary'>): number {
  const running = planThatRuns(view)
  const opened = running === null ? openedOnNodes(view, canary) : openedByPlan(view, running)
  return opened === null ? 1 : fittingStep(view, asUpdated(view, opened, canary.canaryRevision))
}

/** The BatchRelease of the Rollout, which has its plan; null where it is gone, another owner's, or pruned by other definitions. */
function planThatRuns(view: RolloutView): BatchRelease | null {
  const { release } = view
  return release === undefined || isForeign(view) || release.spec.tranche?.release === undefined ? null : release
}

/** What the replaced plan had opened; null where the plan is the same, or that is unknown. */
function openedBefore(view: RolloutView, canary: CanaryStatus): BatchReach | null {
  const running = planThatRuns(view)
  if (running === null) return hasOtherSteps(view) ? openedOnNodes(view, canary) : null
  const { releasePlan, tranche } = running.spec
  if (tranche?.release !== releaseId(view.rollout) || releasePlan.batchPartition === undefined) return null
  return hasPlan(running, view.rollout) ? null : openedByPlan(view, running)
}

function hasPlan({ spec: { releasePlan, tranche } }: BatchRelease, rollout: Rollout): boolean {
  const selected = nodeRulesFor(rollout, undefined)?.steps ?? []
  return isSameJson(releasePlan.batches ?? [], batchesOf(rollout)) && isSameJson(tranche?.nodes?.steps ?? [], selected)
}

/** Whether the status describes other steps than the spec has. */
function hasOtherSteps({ rollout }: RolloutView): boolean {
  const { canaryStatus, stepNodes } = rollout.status ?? {}
  const described = canaryStatus?.rolloutHash
  return described !== undefined && (described !== rolloutHash(rollout) || stepNodes !== stepNodesDigest(rollout))
}

function openedByPlan({ fleet }: RolloutView, { spec: { releasePlan: plan, tranche } }: BatchRelease): BatchReach {
  return batchReach(fleet, { plan, nodes: tranche?.nodes, batch: plan.batchPartition ?? -1 })
}

/** Without its BatchRelease the DaemonSet and its pods say how many nodes were opened: at most those that are updated. */
function openedOnNodes(view: RolloutView, { canaryRevision }: CanaryStatus): BatchReach | null {
  const { daemonSet, fleet } = view
  const published = daemonSet === undefined ? null : openedSize(daemonSet, canaryRevision, fleet.desired)
  if (published === null) return null
  const size = Math.min(published, countUpdated(fleet, canaryRevision).updated)
  return asUpdated(view, { size, nodes: fleet.nodes.filter(({ desired }) => desired) }, canaryRevision)
}

/** Where steps select nodes, a number of nodes does not say which were opened: those of a step count once all of them are updated. */
function asUpdated({ rollout }: RolloutView, { size, nodes }: BatchReach, revision: string): BatchReach {
  if (!selectsNodes(rollout)) return { size, nodes }
  const updated = updatedIn(nodes, revision)
  return { size: Math.min(size, updated.length), nodes: updated }
}

function selectsNodes(rollout: Rollout): boolean {
  return stepsOf(rollout).some(({ nodes }) => nodes !== undefined)
}

function updatedIn(nodes: readonly NodeView[], revision: string): readonly NodeView[] {
  return nodes.filter((node) => updatedPod(node, revision) !== undefined)
}

/** Null where nothing of the revision was opened, or nothing says how much. */
function openedSize(daemonSet: DaemonSet, revision: string, desired: number): number | null {
  const frozen = openedWhenFrozen(daemonSet, revision)
  if (frozen !== null) return frozen.size
  const { canaryRevision, partition } = toPublishedTarget(daemonSet)
  return canaryRevision !== revision || partition === undefined ? null : Math.max(0, desired - partition)
}
