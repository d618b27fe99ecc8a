import type { FailureRules } from '@tranche/api-schema'
import { type Problem, problemOf } from '../problems/problem.ts'
import { durationProblems, numberProblems, thresholdProblems } from './validate-values.ts'

const path = 'spec.failure'

/** Maximum deadline in seconds: one week. */
const WEEK_SECONDS = 604_800

/** Checks the failure rules of a policy: limits, deadlines, ignored reasons and the action. */
export function validateFailure(failure: FailureRules): readonly Problem[] {
  const { action = 'Pause', autoResume } = failure
  return [
    ...thresholdProblems(`${path}.maxFailedNodes`, failure.maxFailedNodes),
    ...thresholdProblems(`${path}.maxFailedNodesPerBatch`, failure.maxFailedNodesPerBatch),
    ...numberProblems(`${path}.progressDeadlineSeconds`, failure.progressDeadlineSeconds, { from: 1, to: WEEK_SECONDS }),
    ...numberProblems(`${path}.schedulingDeadlineSeconds`, failure.schedulingDeadlineSeconds, { from: 1, to: WEEK_SECONDS }),
    ...numberProblems(`${path}.maxRestarts`, failure.maxRestarts, { from: 0, to: 10_000 }),
    ...reasonProblems(failure.ignoreReasons ?? []),
    ...durationProblems(`${path}.autoResume`, autoResume, { from: '1s', to: '168h' }),
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
