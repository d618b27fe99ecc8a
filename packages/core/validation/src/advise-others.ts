import type { BatchRelease } from '@tranche/api-schema'
import type { DaemonSet } from '@tranche/kube-types'
import { adviceRules } from './problems/advice-rules.ts'
import { type Advice, adviceOf } from './problems/problem.ts'
import { isDaemonSetRef, otherWorkloadFix } from './fields/workload.ts'

/** Advice about a hand-written BatchRelease: settings that are allowed but may surprise. */
export function adviseBatchRelease({ spec }: BatchRelease): readonly Advice[] {
  const { workloadRef, releasePlan } = spec
  if (workloadRef !== undefined && !isDaemonSetRef(workloadRef)) {
    const fix = otherWorkloadFix(workloadRef, adviceRules.BatchOtherWorkload.fix)
    return [adviceOf('BatchOtherWorkload', { value: `${workloadRef.kind} of ${workloadRef.apiVersion}`, fix })]
  }
  return [
    ...(releasePlan.batchPartition === undefined ? [adviceOf('BatchPartitionAbsent', { value: undefined })] : []),
    ...(releasePlan.enableExtraWorkloadForCanary ? [adviceOf('BatchExtraWorkload', { value: true })] : []),
  ]
}

/** Advice about a DaemonSet that a Rollout releases: settings that are allowed but may surprise. */
export function adviseDaemonSet({ spec }: DaemonSet): readonly Advice[] {
  const type = spec.updateStrategy?.type
  return [
    ...(type === undefined || type === 'RollingUpdate' ? [adviceOf('NativeMoment', { value: type })] : []),
    ...(spec.revisionHistoryLimit === 0 ? [adviceOf('HistoryGone', { value: 0 })] : []),
  ]
}
