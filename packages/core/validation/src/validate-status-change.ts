import { presentReason, type Rollout, type RolloutStatus } from '@tranche/api-schema'
import { isSameJson } from '@tranche/kube-types'
import { firstProblems } from './problems/bounded.ts'
import { type Problem, problemOf } from './problems/problem.ts'
import { isDaemonSetRef } from './fields/workload.ts'

/**
 * Checks a user's change to the status of a Rollout. Users may set `currentStepState` to `StepReady`, and `nextStepIndex`.
 * `StepReady` is accepted at any time, as `kubectl kruise` expects; when no step is paused, the controller reverts it.
 *
 * Does not check a status that another controller writes: one without our fields, or one that reports `OpenKruiseActive`.
 */
export function validateStatusChange(before: Rollout, after: Rollout): readonly Problem[] {
  if (!isDaemonSetRef(before.spec.workloadRef) || !isOurStatus(before.status)) return []
  return firstProblems([...stateProblems(before, after), ...nextStepProblems(before, after), ...otherProblems(before, after)])
}

function isOurStatus(status: RolloutStatus | undefined): boolean {
  if (status?.stableRevision === undefined && status?.releaseGeneration === undefined) return false
  const reason = status.conditions?.find(({ type, status: value }) => type === 'Stalled' && value === 'True')?.reason
  return reason === undefined || presentReason(reason) !== 'OpenKruiseActive'
}

function stateProblems(before: Rollout, after: Rollout): readonly Problem[] {
  const state = after.status?.canaryStatus?.currentStepState
  if (state === before.status?.canaryStatus?.currentStepState || state === 'StepReady') return []
  return [problemOf('StatusStepState', { value: state })]
}

function nextStepProblems(before: Rollout, after: Rollout): readonly Problem[] {
  const next = after.status?.canaryStatus?.nextStepIndex
  const steps = before.spec.strategy.canary?.steps?.length ?? 0
  if (next === before.status?.canaryStatus?.nextStepIndex || (next !== undefined && next >= 1 && next <= steps)) return []
  const fix = steps === 0 ? 'leave it as it is' : `set it to a number from 1 to ${steps}, or leave it as it is`
  return [problemOf('StatusNextStep', { value: next, fix })]
}

function otherProblems(before: Rollout, after: Rollout): readonly Problem[] {
  const changed = changedMembers(rest(before.status), rest(after.status), 'status')
  return changed.map(({ path, value }) => problemOf('StatusOthers', { path, value }))
}

/** The status without the fields that users may write. */
function rest({ canaryStatus, ...others }: Partial<RolloutStatus> = {}): Readonly<Record<string, unknown>> {
  const { currentStepState: _state, nextStepIndex: _next, ...canary } = canaryStatus ?? {}
  return { ...others, ...(canaryStatus !== undefined && { canaryStatus: canary }) }
}

function changedMembers(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  path: string,
): readonly { readonly path: string; readonly value: unknown }[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.filter((name) => !isSameJson(before[name], after[name])).map((name) => ({ path: `${path}.${name}`, value: after[name] }))
}
