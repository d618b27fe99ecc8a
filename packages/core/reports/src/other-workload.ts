import type { Rollout } from '@tranche/api-schema'
import { type AdviceRule, isDaemonSetRef } from '@tranche/validation'

/** Rule for a Rollout of another workload kind; the same code as in `lint`. */
export const OTHER_WORKLOAD: AdviceRule = 'OtherWorkload'

/** @returns why Tranche ignores a Rollout; null for a Rollout of a DaemonSet */
export function otherWorkload({ spec: { workloadRef } }: Rollout): string | null {
  const { apiVersion, kind } = workloadRef
  return isDaemonSetRef(workloadRef)
    ? null
    : `ignored: it names a ${kind} of ${apiVersion}, and Tranche releases only DaemonSets of apps/v1`
}
