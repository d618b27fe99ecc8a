import type { Outcome, RolloutCondition, StalledReason } from '@tranche/api-schema'
import { waitOf } from '@tranche/planner'
import { otherWorkload } from './other-workload.ts'
import { type Outline, outlineOf, progressOf } from './outline.ts'
import type { ReleaseFacts } from './release-facts.ts'

/** What a Rollout comes to, for somebody who waits for it. Done only when nothing is left that could be done. */
export function outcomeOf(facts: ReleaseFacts): Outcome {
  return outcomeIn(outlineOf(facts))
}

/** The same of facts that were read. */
export function outcomeIn(outline: Outline): Outcome {
  const { rollout } = outline.facts
  const { status, metadata } = rollout
  if (otherWorkload(rollout) !== null) return 'Running'
  if (status === undefined || (status.observedGeneration ?? 0) < (metadata.generation ?? 0)) return 'Running'
  const stalled = conditionIn(outline, 'Stalled')
  const reason = stalled?.status === 'True' ? stalled.reason : null
  if (isOutdated(outline, reason)) return 'Running'
  if (reason !== null) return stalledOutcome(reason)
  if (status.phase === 'Healthy') return restingOutcome(outline)
  if (status.phase === 'Disabled') return isSettled(outline) ? 'Done' : 'Waiting'
  return waitOf(rollout, status) === null ? 'Running' : 'Waiting'
}

/** Stalls that say nothing against the version and nothing of what people wrote: somebody has to look, and it goes on. */
const decisions: readonly StalledReason[] = ['AnalysisInconclusive', 'StrategyContested', 'PodsStuck']

/** Stalls that are about the version itself; every other one waits for a fix of the spec, the policy or the cluster. */
const failures: readonly StalledReason[] = ['ReleaseFailed', 'RevisionHeld']

function stalledOutcome(reason: string): Outcome {
  if (decisions.some((decision) => decision === reason)) return 'Waiting'
  return failures.some((failure) => failure === reason) ? 'Failed' : 'Blocked'
}

/** Stalls that are about what people wrote, or about the cluster: another template does not end them. */
const lasting: readonly StalledReason[] = [
  'InvalidSpec',
  'UnsupportedField',
  'WorkloadTaken',
  'CRDOutdated',
  'PeerActive',
  'ForeignControl',
  'PolicyNotFound',
  'PolicyInvalid',
]

/**
 * The DaemonSet has a template, or exists, of which the status does not speak yet: what that says of the version before must not be taken
 * for an answer. Who applies a mend and waits for it would hear of the failure that it mends.
 */
function isOutdated({ facts: { daemonSet }, discovery, canary }: Outline, stalled: string | null): boolean {
  if (daemonSet === undefined || lasting.some((reason) => reason === stalled)) return false
  return stalled === 'WorkloadNotFound' || discovery.kind === 'pending' || discovery.canary !== canary
}

/** @returns the condition of this type; undefined where the status has none */
export function conditionIn({ facts }: Outline, type: RolloutCondition['type']): RolloutCondition | undefined {
  return facts.rollout.status?.conditions?.find((condition) => condition.type === type)
}

/** A template that the controller has not seen yet is still to be released. */
function restingOutcome(outline: Outline): Outcome {
  if (!isSettled(outline)) return 'Running'
  return conditionIn(outline, 'Succeeded')?.status === 'False' ? 'RolledBack' : 'Done'
}

/** The template of now is on every node that can be updated. */
function isSettled(outline: Outline): boolean {
  const { old, skipped, waitedFor, excluded } = progressOf({ ...outline, batch: null })
  return old.length <= skipped.length + waitedFor.length + excluded.length
}
