import type { BatchReleasePhase, BatchState, FlightState, ProgressingReason, RolloutPhase, StepState } from '../values.ts'

/** A change from one state to another that a controller may write; `from` is null where the field was absent. */
export interface Transition<State extends string> {
  readonly from: State | null
  readonly to: State
  /** Why, in a few words; empty where the states say it. */
  readonly when: string
}

type Row<State extends string> = readonly [from: State | null, to: State, when?: string]

/** `status.phase` of a Rollout. */
export const rolloutPhaseTransitions = transitions<RolloutPhase>([
  [null, 'Initial', 'first status'],
  [null, 'Healthy', 'bound before'],
  [null, 'Progressing', 'bound before, in mid-release'],
  [null, 'Disabled', 'spec.disabled'],
  [null, 'Disabling', 'spec.disabled, in mid-release'],
  [null, 'Terminating', 'deleted'],
  ['Initial', 'Healthy', 'workload found, Rollout bound'],
  ['Initial', 'Progressing', 'bound while nodes run two revisions'],
  ['Initial', 'Disabled', 'spec.disabled'],
  ['Initial', 'Disabling', 'spec.disabled, in mid-release'],
  ['Initial', 'Terminating', 'deleted'],
  ['Healthy', 'Progressing', 'new template'],
  ['Healthy', 'Disabled', 'spec.disabled'],
  ['Healthy', 'Disabling', 'spec.disabled, nodes left behind'],
  ['Healthy', 'Initial', 'another workload'],
  ['Healthy', 'Terminating', 'deleted'],
  ['Progressing', 'Healthy', 'release ended'],
  ['Progressing', 'Disabling', 'spec.disabled'],
  ['Progressing', 'Disabled', 'spec.disabled, nothing to stop'],
  ['Progressing', 'Initial', 'another workload'],
  ['Progressing', 'Terminating', 'deleted'],
  ['Disabling', 'Disabled', 'ended or frozen, and detached'],
  ['Disabling', 'Progressing', 'enabled again'],
  ['Disabling', 'Healthy', 'enabled again'],
  ['Disabling', 'Terminating', 'deleted'],
  ['Disabled', 'Healthy', 'enabled again'],
  ['Disabled', 'Disabling', 'nodes to roll back or complete'],
  ['Disabled', 'Progressing', 'enabled again, with a new template'],
  ['Disabled', 'Terminating', 'deleted'],
])

/** Reason of the condition `Progressing` of a Rollout. */
export const progressingTransitions = transitions<ProgressingReason>([
  [null, 'Initializing', 'first release'],
  [null, 'InRolling', 'bound in mid-release'],
  [null, 'Finalising', 'bound when no step is left'],
  [null, 'Cancelling', 'enabled again in mid-rollback'],
  [null, 'Paused', 'enabled again in mid-rollback, with spec.strategy.paused'],
  ['Initializing', 'InRolling', 'revisions known'],
  ['Initializing', 'Paused', 'spec.strategy.paused'],
  ['Initializing', 'Finalising', 'no step is left'],
  ['Initializing', 'Cancelling', 'stable template back'],
  ['InRolling', 'Initializing', 'newer template'],
  ['InRolling', 'Paused', 'spec.strategy.paused'],
  ['InRolling', 'Finalising', 'last step completed'],
  ['InRolling', 'Cancelling', 'stable template back'],
  ['Paused', 'Initializing', 'newer template'],
  ['Paused', 'InRolling', 'resumed'],
  ['Paused', 'Finalising', 'resumed, no step is left'],
  ['Paused', 'Cancelling', 'stable template back'],
  ['Paused', 'Completed', 'resumed, and the release ended before the next status'],
  ['Finalising', 'Initializing', 'newer template'],
  ['Finalising', 'Paused', 'spec.strategy.paused'],
  ['Finalising', 'Cancelling', 'stable template back'],
  ['Finalising', 'Completed', 'release ended'],
  ['Cancelling', 'Initializing', 'newer template'],
  ['Cancelling', 'Paused', 'spec.strategy.paused'],
  ['Cancelling', 'Finalising', 'newer template, no step is left'],
  ['Cancelling', 'Completed', 'release ended'],
  ['Completed', 'Initializing', 'new template'],
  ['Completed', 'Finalising', 'new template while on-delete Complete ends the release'],
])

/** `status.canaryStatus.currentStepState` of a Rollout. */
export const stepTransitions = transitions<StepState>([
  [null, 'Completed', 'no release runs'],
  [null, 'BeforeStepUpgrade', 'bound in mid-release'],
  [null, 'StepUpgrade', 'bound in mid-rollback'],
  [null, 'StepPaused', 'bound in mid-release'],
  ['BeforeStepUpgrade', 'StepUpgrade', 'batch opened'],
  ['BeforeStepUpgrade', 'Completed', 'no step is left'],
  ['StepUpgrade', 'BeforeStepUpgrade', 'newer template, or another step'],
  ['StepUpgrade', 'StepMetricsAnalysis', 'batch ready, and a policy has soak or analysis'],
  ['StepUpgrade', 'StepPaused', 'batch ready'],
  ['StepUpgrade', 'StepReady', 'batch ready, step approved before'],
  ['StepUpgrade', 'Completed', 'last step, every node'],
  ['StepMetricsAnalysis', 'BeforeStepUpgrade', 'newer template, or another step'],
  ['StepMetricsAnalysis', 'StepUpgrade', 'batch not ready any more, or next step without a pause'],
  ['StepMetricsAnalysis', 'StepPaused', 'stayed ready, and analyses succeeded'],
  ['StepMetricsAnalysis', 'StepReady', 'promoted'],
  ['StepMetricsAnalysis', 'Completed', 'last step'],
  ['StepPaused', 'StepReady', 'approved'],
  ['StepPaused', 'BeforeStepUpgrade', 'newer template, or another step'],
  ['StepPaused', 'StepUpgrade', 'time is up, and the batch is ready; or its first node is updated'],
  ['StepPaused', 'Completed', 'time is up after the last step'],
  ['StepReady', 'BeforeStepUpgrade', 'newer template, or another step'],
  ['StepReady', 'StepUpgrade', 'next step, once the batch is ready; or not at a pause when a user wrote it'],
  ['StepReady', 'StepPaused', 'not at a pause when a user wrote it'],
  ['StepReady', 'StepMetricsAnalysis', 'batch ready again'],
  ['StepReady', 'Completed', 'last step'],
  ['Completed', 'BeforeStepUpgrade', 'new template'],
  ['Completed', 'StepUpgrade', 'rollback without pauses'],
  ['Completed', 'StepPaused', 'not completed when a user wrote it'],
])

/** `status.phase` of a BatchRelease. */
export const batchReleasePhaseTransitions = transitions<BatchReleasePhase>([
  [null, 'Preparing', 'first status'],
  [null, 'Progressing', 'DaemonSet claimed before'],
  [null, 'Finalizing', 'no batch is left'],
  ['Preparing', 'Progressing', 'DaemonSet claimed'],
  ['Preparing', 'Finalizing', 'batchPartition removed, or deleted'],
  ['Progressing', 'Preparing', 'control lost, or another revision'],
  ['Progressing', 'Finalizing', 'batchPartition removed, or deleted'],
  ['Finalizing', 'Preparing', 'another revision'],
  ['Finalizing', 'Progressing', 'batchPartition set again'],
  ['Finalizing', 'Completed', 'stopped, everything settled, strategy restored where that is safe'],
  ['Completed', 'Preparing', 'another revision'],
  ['Completed', 'Progressing', 'another revision, claimed already'],
  ['Completed', 'Finalizing', 'nodes to update again'],
])

/** `status.canaryStatus.batchState` of a BatchRelease. */
export const batchStateTransitions = transitions<BatchState>([
  [null, 'Upgrading', 'first status'],
  [null, 'Verifying', 'enough nodes are updated'],
  [null, 'Ready', 'enough nodes are available'],
  ['Upgrading', 'Verifying', 'partition written, record open'],
  ['Upgrading', 'Ready', 'partition written, enough nodes available'],
  ['Verifying', 'Ready', 'enough nodes available'],
  ['Verifying', 'Upgrading', 'next batch, or stopped'],
  ['Ready', 'Verifying', 'too few available again'],
  ['Ready', 'Upgrading', 'next batch, or stopped'],
])

/** `status.flight.state` of a BatchRelease. */
export const flightTransitions = transitions<FlightState>([
  [null, 'stopped', 'record created'],
  ['stopped', 'open', 'no hold left'],
  ['open', 'voiding', 'a change allows less'],
  ['voiding', 'stopped', 'every standing pod touched'],
])

/** @returns whether `to` may follow `from`: a listed transition, or no change */
export function isListed<State extends string>(
  listed: readonly Transition<State>[],
  from: State | undefined,
  to: State | undefined,
): boolean {
  return to === undefined || from === to || listed.some((one) => one.from === (from ?? null) && one.to === to)
}

function transitions<State extends string>(rows: readonly Row<State>[]): readonly Transition<State>[] {
  return rows.map(([from, to, when = '']) => ({ from, to, when }))
}
