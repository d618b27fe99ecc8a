import type { BatchRelease, CanaryStatus } from '@tranche/api-schema'
import { batchScope, updatedPod } from '@tranche/fence'
import { type BatchReach, isWithinReach } from '../../release/progress/batch-reach.ts'
import { policyTerms } from '../view/release-policy.ts'
import type { RolloutView } from '../view/rollout-view.ts'
import { stepReach, stepsOf } from './release-spec.ts'
import { openedByPlan, passedByPlan, planThatRuns } from './running-plan.ts'

/**
 * The step at which a release continues whose steps were changed and select nodes (G3). A number of nodes does not say there which nodes were
 * opened.
 * - The step that opens what the present one had opened, if no step before it opens anything that was not open.
 * - Otherwise the first that opens anything which no step before the present one had opened: only their pauses are over. An empty step that
 *   is not before the present one has its pause, too.
 * - Without its BatchRelease it is not known what those had opened: the last step before the first that has nodes left to update, but none
 *   after the present one.
 *
 * Nodes that the policy excludes do not count.
 */
export function stepBySelectors(view: RolloutView, { currentStepIndex: present, canaryRevision }: CanaryStatus): number {
  const reaches = stepsOf(view.rollout).map((_, at) => included(view, stepReach(view, at + 1)))
  const running = planThatRuns(view)
  if (running === null) return Math.max(1, Math.min(present, lastFilled(reaches, canaryRevision)))
  const isWithin = (reach: BatchReach, other: BatchReach): boolean =>
    isWithinReach(reach, other) && leftOf(reach, canaryRevision) <= leftOf(other, canaryRevision)
  const opened = included(view, openedByPlan(view, running))
  const passed = passedByPlan(view, running).map((reach) => included(view, reach))
  const isPassed = (reach: BatchReach): boolean => passed.some((one) => isWithin(reach, one))
  const isSame = (reach: BatchReach | undefined): boolean => reach !== undefined && isWithin(reach, opened) && isWithin(opened, reach)
  const same = isSame(reaches[present - 1]) ? present - 1 : reaches.findIndex(isSame)
  if (same !== -1 && reaches.slice(0, same).every((reach) => isWithin(reach, opened) || isPassed(reach))) return same + 1
  const addsNone = (reach: BatchReach, at: number): boolean => isWithinReach(reach, reaches[at - 1] ?? { size: 0, nodes: [] })
  const next = reaches.findIndex((reach, at) => !isPassed(reach) || (at >= present - 1 && addsNone(reach, at)))
  return next === -1 ? reaches.length : next + 1
}

/** The step of a plan without selectors that replaces one with them: the first that has more nodes than the steps before the present one. */
export function stepWithoutSelectors(view: RolloutView, running: BatchRelease): number {
  const passed = Math.max(0, ...passedByPlan(view, running).map(({ size }) => size))
  const steps = stepsOf(view.rollout)
  const next = steps.findIndex((_, at) => stepReach(view, at + 1).size > passed)
  return next === -1 ? steps.length : next + 1
}

/** Number of nodes that a step has left to update, without those that the policy excludes. */
export function leftIn(view: RolloutView, reach: BatchReach, revision: string): number {
  return leftOf(included(view, reach), revision)
}

function leftOf({ size, nodes }: BatchReach, revision: string): number {
  return Math.max(0, size - nodes.filter((node) => updatedPod(node, revision) !== undefined).length)
}

/** Number of the last step, from 1, up to which all have their nodes; 0: none has. */
function lastFilled(reaches: readonly BatchReach[], revision: string): number {
  const unfilled = reaches.findIndex((reach) => !isFilled(reach, revision, true))
  return unfilled === -1 ? reaches.length : unfilled
}

/**
 * Whether as many nodes are updated as the step has.
 *
 * @param withoutAway whether nodes that are away do not count, where others are updated
 */
export function isFilled({ size, nodes }: BatchReach, revision: string, withoutAway: boolean): boolean {
  const updated = nodes.filter((node) => updatedPod(node, revision) !== undefined)
  if (!withoutAway) return size <= updated.length
  const away = nodes.filter((node) => !updated.includes(node) && (!node.ready || node.maintenance !== undefined))
  return size <= updated.length + (updated.length > 0 ? away.length : 0)
}

function included(view: RolloutView, { size, nodes }: BatchReach): BatchReach {
  const { rules } = batchScope(policyTerms(view).nodes, null)
  const ours = nodes.filter(({ labels }) => !rules.factsOf(labels).isExcluded)
  return { size: Math.min(size, ours.length), nodes: ours }
}
