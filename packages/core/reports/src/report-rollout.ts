import type { RolloutReport, RolloutStep } from '@tranche/api-schema'
import { rolloutAnnotations } from '@tranche/kube-types'
import { failedStable, isFinalising, stepSelectorText, stepsOf } from '@tranche/planner'
import { allowedActions } from './allowed-actions.ts'
import { leftNodesIn } from './left-nodes.ts'
import { countZones, stateQuestion } from './node-state.ts'
import { conditionIn } from './outcome-of.ts'
import { otherWorkload } from './other-workload.ts'
import { isYetToStart, type Outline, outlineOf } from './outline.ts'
import type { ReleaseFacts } from './release-facts.ts'
import { blockedNodesOf } from './present-message.ts'
import { pinnedConfigOf } from './policy/pinned-config.ts'
import { policyStateOf } from './policy/policy-state.ts'
import { reportAnalyses } from './report-analyses.ts'
import { reportBudget } from './report-budget.ts'
import { stepSizes } from './step-sizes.ts'
import { summaryOf } from './summarize-rollout.ts'

/** Full report of a Rollout, without the list of nodes. */
export function reportRollout(facts: ReleaseFacts): RolloutReport {
  const outline = outlineOf(facts)
  const { metadata, status } = facts.rollout
  const policy = metadata.annotations?.[rolloutAnnotations.releasePolicy]
  const policyState = policyStateOf(facts.rollout)
  const summary = summaryOf(outline)
  const analyses = reportAnalyses(outline)
  const kept = blockedNodesOf(outline)
  const pinned = pinnedConfigOf(facts.daemonSet)
  const left = otherWorkload(facts.rollout) === null ? leftNodesIn(outline) : []
  const sizes = stepSizes(outline)
  const failed = failedStable(facts.rollout)
  const steps = stepsOf(facts.rollout)
  return {
    ...summary,
    steps: steps.map((step, at) => ({
      index: at + 1,
      replicas: replicasText(step),
      nodes: sizes[at] ?? 0,
      ...(at === steps.length - 1 && coversAll(outline, sizes[at]) ? {} : pauseOf(step)),
      state: stepState(outline, at + 1),
    })),
    ...(status?.failure !== undefined && { failure: status.failure }),
    heldRevisions: status?.heldRevisions ?? [],
    ...(failed !== undefined && { failedStable: { revision: failed.revision, ...(failed.at !== undefined && { at: failed.at }) } }),
    ...(status?.lastAction !== undefined && { lastAction: status.lastAction }),
    actions: allowedActions(facts),
    ...(policy !== undefined && { policy }),
    ...(policyState !== undefined && { policyState }),
    ...(analyses.length > 0 && { analyses }),
    ...(summary.maxUnavailable !== undefined && { budget: reportBudget(outline, summary.maxUnavailable) }),
    ...(kept.length > 0 && { blockedNodes: kept }),
    ...(pinned.length > 0 && { pinnedConfig: pinned }),
    ...(left.length > 0 && { leftNodes: left }),
    zones: countZones(outline.fleet, stateQuestion(outline)),
    skippedNodes: status?.skippedNodes ?? [],
    conditions: [
      ...notBoundCondition(facts),
      ...(status?.conditions ?? []).map(({ type, status: holds, reason, message, lastTransitionTime }) => ({
        type,
        status: holds,
        reason,
        message,
        ...(lastTransitionTime !== undefined && { since: lastTransitionTime }),
      })),
    ],
  }
}

/** Not part of the status: it depends on the rights of the client. */
function notBoundCondition({ notBound }: ReleaseFacts): RolloutReport['conditions'] {
  return notBound === undefined ? [] : [{ type: 'Bound', status: 'False', reason: 'NotBound', message: notBound }]
}

/** Size of a step as written, with its node selector if it has one. */
function replicasText({ replicas, nodes }: RolloutStep): string {
  if (nodes === undefined) return String(replicas ?? '100%')
  const selector = stepSelectorText(nodes)
  return replicas === undefined ? selector : `${replicas} of ${selector}`
}

/** Whether a size covers every node: such a last step does not pause. */
function coversAll({ facts, fleet }: Outline, size = 0): boolean {
  return facts.fleet !== undefined && size >= fleet.desired
}

function pauseOf({ pause }: RolloutStep): { readonly pause?: string } {
  if (pause === undefined) return {}
  return { pause: pause.duration === undefined ? 'person' : `${pause.duration}s` }
}

/** State of a step: all are done after a release, none before the first one. */
function stepState(outline: Outline, index: number): 'done' | 'current' | 'ahead' {
  const canary = outline.facts.rollout.status?.canaryStatus
  if (canary === undefined || isYetToStart(outline) || conditionIn(outline, 'Progressing') === undefined) return 'ahead'
  if (canary.currentStepState === 'Completed' || isFinalising(canary)) return 'done'
  return index < canary.currentStepIndex ? 'done' : index === canary.currentStepIndex ? 'current' : 'ahead'
}
