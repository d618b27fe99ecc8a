import type { Rollout } from '@tranche/api-schema'
import { type AdviceRule, isDaemonSetRef } from '@tranche/validation'

/** Why nothing is told of a Rollout that is somebody else's: as `lint` says it. */
export const OTHER_WORKLOAD: AdviceRule = 'OtherWorkload'

/** @returns why a Rollout is left alone; null where it is ours */
export function otherWorkload({ spec: { workloadRef } }: Rollout): string | null {
  const { apiVersion, kind } = workloadRef
  return isDaemonSetRef(workloadRef)
    ? null
    : `not ours: it names a ${kind} of ${apiVersion}, and Tranche acts on DaemonSets of apps/v1 only`
}
