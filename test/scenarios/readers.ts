import type { Rollout } from '@tranche/api-schema'

/**
 * Results that other programs derive from a Rollout, by their documentation. Like them, each throws if it reads a field that is missing.
 */

/** Results of Argo CD's built-in health check. */
export type ArgoHealth = 'Progressing' | 'Suspended' | 'Healthy' | 'Degraded'

/** Results of Flux and other users of kstatus. */
export type Kstatus = 'InProgress' | 'Failed' | 'Current' | 'Terminating'

/** Fields that `describe` of OpenKruise's plugin reads. */
export interface Described {
  readonly step: string
  /** Selector for the pods of the step. */
  readonly podSelector: string
}

/** @see the table in docs/guides/verdicts.md */
export function argoHealth({ metadata, status }: Rollout): ArgoHealth {
  if (metadata.deletionTimestamp !== undefined) return 'Progressing'
  const { observedGeneration, phase, canaryStatus } = there('status', status)
  if (metadata.generation !== observedGeneration) return 'Progressing'
  const { currentStepState } = there('canaryStatus', canaryStatus)
  if (currentStepState === 'StepPaused' && phase === 'Progressing') return 'Suspended'
  if (currentStepState === 'Completed' && phase === 'Healthy') return 'Healthy'
  return currentStepState === 'StepPaused' && (phase === 'Terminating' || phase === 'Disabled') ? 'Degraded' : 'Progressing'
}

/** @see https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md */
export function kstatus({ metadata, status }: Rollout): Kstatus {
  if (metadata.deletionTimestamp !== undefined) return 'Terminating'
  const isTrue = (type: string): boolean => status?.conditions?.some((one) => one.type === type && one.status === 'True') === true
  // For kstatus, an object without a status is current.
  if (status === undefined) return 'Current'
  if (metadata.generation !== status.observedGeneration || isTrue('Reconciling')) return 'InProgress'
  if (isTrue('Stalled')) return 'Failed'
  return isTrue('Ready') ? 'Current' : 'InProgress'
}

/** Throws where the plugin panics, because it reads `canaryStatus` without a check. */
export function describedBy({ spec, status }: Rollout): Described {
  const { currentStepIndex, currentStepState, podTemplateHash, stableRevision } = there(
    'canaryStatus',
    there('status', status).canaryStatus,
  )
  const step = there('the step', spec.strategy.canary?.steps?.[currentStepIndex - 1])
  const hash = podTemplateHash === '' ? there('stableRevision', stableRevision) : podTemplateHash
  return {
    step: `${there('replicas', step.replicas)} ${there('currentStepState', currentStepState)}`,
    podSelector: `controller-revision-hash=${hash},rollouts.kruise.io/rollout-batch-id=${currentStepIndex}`,
  }
}

function there<T>(what: string, value: T | undefined): T {
  if (value === undefined) throw new TypeError(`${what} is not there`)
  return value
}
