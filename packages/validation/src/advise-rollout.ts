import type { Rollout } from '@tranche/api-schema'
import { rolloutAnnotations } from '@tranche/kube-types'
import { isDaemonSetRef } from './workload.ts'

/** What is allowed and yet may surprise; shown as warnings by admission and `lint`. Each is one sentence without full stop. */
export function adviseRollout(rollout: Rollout): readonly string[] {
  if (!isDaemonSetRef(rollout.spec.workloadRef)) return [notOurs(rollout)]
  return [...lastStepAdvice(rollout), ...ignoredAdvice(rollout), ...onDeleteAdvice(rollout)]
}

function notOurs(rollout: Rollout): string {
  const { apiVersion, kind } = rollout.spec.workloadRef
  return `spec.workloadRef names a ${kind} of ${apiVersion}: Tranche acts on DaemonSets of apps/v1 only and leaves this Rollout alone`
}

function lastStepAdvice(rollout: Rollout): readonly string[] {
  const last = rollout.spec.strategy.canary?.steps?.at(-1)?.replicas
  if (typeof last !== 'string' || last === '100%') return []
  return [`the last step ends at ${last}: after its pause the remaining nodes follow as one more batch`]
}

function ignoredAdvice(rollout: Rollout): readonly string[] {
  const canary = rollout.spec.strategy.canary
  return (['enableExtraWorkloadForCanary', 'disableGenerateCanaryService'] as const)
    .filter((field) => canary?.[field] === true)
    .map((field) => `spec.strategy.canary.${field} has no effect on a DaemonSet`)
}

/** A policy that is not known is a problem, not advice. */
function onDeleteAdvice({ metadata }: Rollout): readonly string[] {
  const value = metadata.annotations?.[rolloutAnnotations.onDelete]
  if (value !== 'Complete' && value !== 'Rollback') return []
  return [
    `metadata.annotations[${rolloutAnnotations.onDelete}] is ${value}, which is not carried out: this version always freezes a release where it stands`,
  ]
}
