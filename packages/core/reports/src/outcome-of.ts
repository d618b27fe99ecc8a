import { type Outcome, presentReason, type RolloutCondition, type StalledReason } from '@tranche/api-schema'
import { waitOf } from '@tranche/planner'
import { personWaitOf } from './policy/person-wait.ts'
import { isLasting } from './lasting-stall.ts'
import { isUpdatingLeft } from './left-nodes.ts'
import { otherWorkload } from './other-workload.ts'
import { type Outline, outlineOf, progressOf } from './outline.ts'
import type { ReleaseFacts } from './release-facts.ts'

/** Outcome of a Rollout, for a client that waits for it. `Done` only when no work is left. */
export function outcomeOf(facts: ReleaseFacts): Outcome {
  return outcomeIn(outlineOf(facts))
}

/** The same as {@link outcomeOf}, from an outline. */
export function outcomeIn(outline: Outline): Outcome {
  const { rollout } = outline.facts
  const { status } = rollout
  if (otherWorkload(rollout) !== null) return 'Running'
  if (status === undefined || !isObserved(outline)) return 'Running'
  const stalled = conditionIn(outline, 'Stalled')
  const reason = stalled?.status === 'True' ? stalled.reason : null
  if (isOutdated(outline, reason)) return 'Running'
  if (reason !== null) return stalledOutcome(reason)
  if (status.phase === 'Healthy') return restingOutcome(outline)
  if (status.phase === 'Disabled') return isSettled(outline) ? 'Done' : 'Waiting'
  if (personWaitOf(outline.facts.rollout, outline.release) !== null) return 'Blocked'
  return waitOf(rollout, status) === null ? 'Running' : 'Waiting'
}

/**
 * Whether the status covers the spec. A Rollout that ends its release first observes the generation only when that is over; one whose changes
 * the API server rejects does so once they are accepted.
 */
function isObserved(outline: Outline): boolean {
  const { status, metadata } = outline.facts.rollout
  if (status?.phase === 'Disabling' || status?.phase === 'Terminating') return true
  const stalled = conditionIn(outline, 'Stalled')
  if (stalled?.status === 'True' && stalled.reason === 'ChangeRejected') return true
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
}

/** Stalls that need a user's decision although neither the version nor the spec is at fault. */
const decisions: readonly StalledReason[] = ['AnalysisInconclusive', 'StrategyConflict', 'PodsStuck']

/** Stalls caused by the version itself; all others wait for a fix of the spec, the policy or the cluster. */
const failures: readonly StalledReason[] = ['ReleaseFailed', 'RevisionHeld']

function stalledOutcome(reason: string): Outcome {
  if (decisions.some((decision) => decision === reason)) return 'Waiting'
  return failures.some((failure) => failure === reason) ? 'Failed' : 'Blocked'
}

/**
 * Whether the status does not cover the present template, or the DaemonSet was created since. Then it describes the version before:
 * a client that applies a fix and waits would otherwise get the failure that the fix addresses.
 */
function isOutdated({ facts: { daemonSet }, discovery, canary }: Outline, stalled: string | null): boolean {
  if (daemonSet === undefined || isLasting(stalled)) return false
  return stalled === 'WorkloadNotFound' || discovery.kind === 'pending' || discovery.canary !== canary
}

/** @returns the condition of this type; undefined when the status has none */
export function conditionIn({ facts }: Outline, type: RolloutCondition['type']): RolloutCondition | undefined {
  const condition = facts.rollout.status?.conditions?.find((one) => one.type === type)
  return condition && { ...condition, reason: presentReason(condition.reason) }
}

/** Outcome without a running release; a template that the controller has not observed is not yet released. */
function restingOutcome(outline: Outline): Outcome {
  if (!isSettled(outline) || isUpdatingLeft(outline)) return 'Running'
  return conditionIn(outline, 'Succeeded')?.status === 'False' ? 'RolledBack' : 'Done'
}

/** Whether every node that can be updated runs the present template. */
function isSettled(outline: Outline): boolean {
  const { old, skipped, waitedFor, excluded } = progressOf({ ...outline, batch: null })
  return old.length <= skipped.length + waitedFor.length + excluded.length
}
