import type { CanaryStatus } from '@tranche/api-schema'
import { countUpdated } from '@tranche/fence'
import type { DaemonSet } from '@tranche/kube-types'
import { type BatchReach, isWithinReach } from '../../release/progress/batch-reach.ts'
import { toPublishedTarget } from '../../release/view/to-published-target.ts'
import { rolloutHash } from '../view/rollout-hash.ts'
import { selectsNodes, stepNodesDigest } from '../view/step-nodes.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import type { RolloutView } from '../view/rollout-view.ts'
import { openedWhenFrozen } from './frozen-release.ts'
import { releaseId } from './release-id.ts'
import { isFinalising, isWithinSteps, stepReach, stepsOf } from './release-spec.ts'
import { hasPlan, openedByPlan, planSelectsNodes, planThatRuns } from './running-plan.ts'
import { leftIn, stepBySelectors, stepWithoutSelectors } from './step-by-selectors.ts'

/**
 * The step of a replacing plan at which the release continues (G3). Where it selects no nodes:
 * - The present step opens less than was opened before: the last step that opens nothing more. Of several that open the same,
 *   the first, so that no pause is skipped. Without its BatchRelease it is not known well enough what was opened: the present step.
 * - It opens more: the first step that opens at least as much. That may be the present one.
 * - The present one begins again if it has nodes left to update, though it has waited: its soak and pause were for other nodes.
 * - Null where the present step continues unchanged, the plan is the same, or the steps are over.
 *
 * @see stepBySelectors
 */
export function stepOfReplacedPlan(view: RolloutView, { canary }: Pick<RolloutState, 'canary'>): number | null {
  if (isFinalising(canary) || !isWithinSteps(view.rollout, canary)) return null
  const opened = openedBefore(view, canary)
  if (opened === null) return null
  const { currentStepIndex: present, canaryRevision } = canary
  const reach = stepReach(view, present)
  const isMore = isWithinReach(opened, reach)
  const isSame = isMore && isWithinReach(reach, opened)
  const restarted = isPastUpgrade(canary) && leftIn(view, reach, canaryRevision) > 0 ? present : null
  if (selectsNodes(view.rollout)) {
    const step = stepBySelectors(view, canary)
    return step === present ? (isSame ? null : restarted) : step
  }
  if (isSame) return null
  const running = planThatRuns(view)
  if (running !== null && planSelectsNodes(running)) {
    const step = stepWithoutSelectors(view, running)
    return step === present ? restarted : step
  }
  if (isMore) {
    const first = stepsOf(view.rollout).findIndex((_, at) => isWithinReach(opened, stepReach(view, at + 1))) + 1
    return first < present ? first : restarted
  }
  const fitting = running === null ? present : fittingStep(view, opened)
  return fitting > present ? fitting : restarted
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
  if (selectsNodes(view.rollout)) return stepBySelectors(view, canary)
  const running = planThatRuns(view)
  if (running !== null && planSelectsNodes(running)) return stepWithoutSelectors(view, running)
  const opened = running === null ? openedOnNodes(view, canary) : openedByPlan(view, running)
  return opened === null ? 1 : fittingStep(view, opened)
}

/** What the replaced plan had opened; null where the plan is the same, or that is unknown. */
function openedBefore(view: RolloutView, canary: CanaryStatus): BatchReach | null {
  const running = planThatRuns(view)
  if (running === null) return hasOtherSteps(view) ? openedOnNodes(view, canary) : null
  const { releasePlan, tranche } = running.spec
  if (tranche?.release !== releaseId(view.rollout) || releasePlan.batchPartition === undefined) return null
  return hasPlan(running, view.rollout) ? null : openedByPlan(view, running)
}

/** Whether the status describes other steps than the spec has. */
function hasOtherSteps({ rollout }: RolloutView): boolean {
  const { canaryStatus, stepNodes } = rollout.status ?? {}
  const described = canaryStatus?.rolloutHash
  return described !== undefined && (described !== rolloutHash(rollout) || stepNodes !== stepNodesDigest(rollout))
}

/** Without its BatchRelease the DaemonSet and its pods say how many nodes were opened: at most those that are updated. */
function openedOnNodes(view: RolloutView, { canaryRevision }: CanaryStatus): BatchReach | null {
  const { daemonSet, fleet } = view
  const published = daemonSet === undefined ? null : openedSize(daemonSet, canaryRevision, fleet.desired)
  if (published === null) return null
  const size = Math.min(published, countUpdated(fleet, canaryRevision).updated)
  return { size, nodes: fleet.nodes.filter(({ desired }) => desired) }
}

/** Null where nothing of the revision was opened, or nothing says how much. */
function openedSize(daemonSet: DaemonSet, revision: string, desired: number): number | null {
  const frozen = openedWhenFrozen(daemonSet, revision)
  if (frozen !== null) return frozen.size
  const { canaryRevision, partition } = toPublishedTarget(daemonSet)
  return canaryRevision !== revision || partition === undefined ? null : Math.max(0, desired - partition)
}
