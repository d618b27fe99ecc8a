import type { Rollout, RolloutStatus } from '@tranche/api-schema'

/** Whether Tranche wrote the status: it has a member or a condition that no other controller of Rollouts writes. */
export function isStatusOurs(status: RolloutStatus | undefined): boolean {
  return status?.stableRevision !== undefined || status?.conditions?.some(({ type }) => type === 'Stalled') === true
}

/** Last status of a Rollout whose workload is no longer a DaemonSet: it has no Tranche fields, and no release runs. */
export function leftStatus({ metadata, spec, status }: Rollout): RolloutStatus {
  const { apiVersion, kind } = spec.workloadRef
  return {
    observedGeneration: metadata.generation ?? 0,
    phase: 'Initial',
    message: `detached: spec.workloadRef names a ${kind} of ${apiVersion}, and Tranche acts on DaemonSets of apps/v1 only`,
    currentStepIndex: status?.currentStepIndex ?? 0,
    currentStepState: '',
    conditions: [],
  }
}
