import type { CanaryStatus, Rollout } from '@tranche/api-schema'
import { updatedPod } from '@tranche/fence'
import type { NodeView } from '@tranche/fleet'
import { type DaemonSet, isSameJson } from '@tranche/kube-types'
import { type BatchReach, batchReach, isWithinReach } from '../../release/progress/batch-reach.ts'
import { toPublishedTarget } from '../../release/view/to-published-target.ts'
import { openedWhenFrozen } from './frozen-release.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import type { RolloutView } from '../view/rollout-view.ts'
import { isForeign } from './batch-release-summary.ts'
import { releaseId } from './release-id.ts'
import { batchesOf, isFinalising, isWithinSteps, stepReach, stepsOf } from './release-spec.ts'

/**
 * The step of a replacing plan at which the release continues (G3).
 * - The present step opens less than was opened before: the last step that opens nothing more. Of several that open the same,
 *   the first, so that no pause is skipped.
 * - It opens more: the first step that opens at least as much, from its start. That may be the present one, though it has
 *   waited: its soak and pause were for fewer nodes.
 * - Null where the present step continues unchanged, the plan is the same, or the steps are over.
 */
export function stepOfReplacedPlan(view: RolloutView, { canary }: Pick<RolloutState, 'canary'>): number | null {
  const { currentStepIndex: present } = canary
  if (isFinalising(canary) || !isWithinSteps(view.rollout, canary)) return null
  const opened = openedByReplacedPlan(view, canary)
  if (opened === null) return null
  const reach = stepReach(view, present)
  if (isSameReach(reach, opened)) return null
  if (!isWithinReach(opened, reach)) {
    const step = fittingStep(view, opened)
    return step > present ? step : null
  }
  const first = stepsOf(view.rollout).findIndex((_, at) => isWithinReach(opened, stepReach(view, at + 1))) + 1
  return first < present || isPastUpgrade(canary) ? first : null
}

/** Whether all nodes of the step are updated: it soaks, pauses, or was approved. */
function isPastUpgrade({ currentStepState }: CanaryStatus): boolean {
  return currentStepState === 'StepMetricsAnalysis' || currentStepState === 'StepPaused' || currentStepState === 'StepReady'
}

/**
 * The last step, from 1, that opens no more than was opened; of several that open the same, the first.
 *
 * @param opened @default what the plan that runs has opened
 */
export function fittingStep(view: RolloutView, opened: BatchReach = openedByPlan(view)): number {
  const reaches = stepsOf(view.rollout).map((_, at) => stepReach(view, at + 1))
  const last = reaches.findLast((reach) => isWithinReach(reach, opened))
  return last === undefined ? 1 : reaches.findIndex((reach) => isWithinReach(last, reach)) + 1
}

function isSameReach(reach: BatchReach, other: BatchReach): boolean {
  return isWithinReach(reach, other) && isWithinReach(other, reach)
}

/** Null where the plan is the one that runs. */
function openedByReplacedPlan(view: RolloutView, canary: CanaryStatus): BatchReach | null {
  const { rollout, release } = view
  if (release === undefined) return hasLostPlan(rollout) ? openedOnNodes(view, canary) : null
  if (isForeign(view) || release.spec.tranche?.release !== releaseId(rollout)) return null
  const { batches = [], batchPartition } = release.spec.releasePlan
  return batchPartition === undefined || isSameJson(batches, batchesOf(rollout)) ? null : openedByPlan(view)
}

/** Whether the spec may have changed since its BatchRelease was lost. A release that begins has none yet, and its first step fits the spec. */
function hasLostPlan({ metadata, status }: Rollout): boolean {
  const begins = status?.conditions?.some(({ type, reason }) => type === 'Progressing' && reason === 'Initializing')
  return begins !== true && metadata.generation !== status?.observedGeneration
}

function openedByPlan(view: RolloutView): BatchReach {
  const { release, fleet, rollout } = view
  const { canaryStatus } = rollout.status ?? {}
  const onNodes = release === undefined && canaryStatus !== undefined ? openedOnNodes(view, canaryStatus) : null
  const { releasePlan, tranche } = release?.spec ?? {}
  return onNodes ?? batchReach(fleet, { plan: releasePlan ?? {}, nodes: tranche?.nodes, batch: releasePlan?.batchPartition ?? -1 })
}

/**
 * Without its BatchRelease the DaemonSet says how many nodes were opened. Which nodes, it does not: where steps select nodes, those of a step
 * count as opened once all of them are updated.
 */
function openedOnNodes({ daemonSet, fleet, rollout }: RolloutView, { canaryRevision }: CanaryStatus): BatchReach | null {
  const size = daemonSet === undefined ? null : openedSize(daemonSet, canaryRevision, fleet.desired)
  if (size === null) return null
  const selects = stepsOf(rollout).some(({ nodes }) => nodes !== undefined)
  const isOpened = (node: NodeView): boolean => node.desired && (!selects || updatedPod(node, canaryRevision) !== undefined)
  return { size, nodes: fleet.nodes.filter(isOpened) }
}

/** Null where nothing of the revision was opened, or nothing says how much. */
function openedSize(daemonSet: DaemonSet, revision: string, desired: number): number | null {
  const frozen = openedWhenFrozen(daemonSet, revision)
  if (frozen !== null) return frozen.size
  const { canaryRevision, partition } = toPublishedTarget(daemonSet)
  return canaryRevision !== revision || partition === undefined ? null : Math.max(0, desired - partition)
}
