import type { FailureRules } from '@tranche/api-schema'
import { type Problem, problemOf } from '../problems/problem.ts'
import { durationProblems, numberProblems, thresholdProblems } from './validate-values.ts'

const path = 'spec.failure'

/** Checks the failure rules of a policy: limits, deadlines, ignored reasons and the action. */
export function validateFailure(failure: FailureRules): readonly Problem[] {
  const { action = 'Pause', autoResume } = failure
  return [
    ...thresholdProblems(`${path}.maxFailedNodes`, failure.maxFailedNodes),
    ...thresholdProblems(`${path}.maxFailedNodesPerBatch`, failure.maxFailedNodesPerBatch),
    ...numberProblems(`${path}.progressDeadlineSeconds`, failure.progressDeadlineSeconds),
    ...numberProblems(`${path}.schedulingDeadlineSeconds`, failure.schedulingDeadlineSeconds),
    ...numberProblems(`${path}.maxRestarts`, failure.maxRestarts),
    ...reasonProblems(failure.ignoreReasons ?? []),
    ...durationProblems(`${path}.autoResume`, autoResume),
    ...(autoResume !== undefined && action !== 'Pause'
      ? [
          problemOf('AutoResume', {
            value: autoResume,
            message: `only a release that pauses can resume by itself, and spec.failure.action is ${action}`,
          }),
        ]
      : []),
  ]
}

function reasonProblems(reasons: readonly string[]): readonly Problem[] {
  return reasons.flatMap((reason, index) =>
    /^[A-Z][A-Za-z]{0,99}$/.test(reason) ? [] : [problemOf('FailureReason', { path: `${path}.ignoreReasons[${index}]`, value: reason })],
  )
}
