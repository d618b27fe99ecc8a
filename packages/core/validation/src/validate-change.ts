import type { Rollout } from '@tranche/api-schema'
import { type Problem, problemOf } from './problems/problem.ts'
import { countOfSteps } from './fields/validate-steps.ts'
import { isDaemonSetRef, isSameWorkload } from './fields/workload.ts'

/** Phases in which a release runs. */
const busyPhases: readonly unknown[] = ['Progressing', 'Terminating', 'Disabling']

/**
 * Checks a change of a Rollout during a release: its workload and the number of its steps must stay; sizes, pauses and
 * thresholds may change.
 *
 * @returns every problem; empty when no release runs, or the Rollout was of another workload kind
 */
export function validateChange(before: Rollout, after: Rollout): readonly Problem[] {
  if (!isDaemonSetRef(before.spec.workloadRef) || !busyPhases.includes(before.status?.phase)) return []
  const workload = workloadProblems(before, after)
  return isDaemonSetRef(after.spec.workloadRef) ? [...workload, ...stepCountProblems(before, after)] : workload
}

function workloadProblems(before: Rollout, after: Rollout): readonly Problem[] {
  if (isSameWorkload(before.spec.workloadRef, after.spec.workloadRef)) return []
  const message = `a release of the DaemonSet ${before.spec.workloadRef.name} is running`
  return [problemOf('WorkloadFrozen', { value: after.spec.workloadRef, message })]
}

function stepCountProblems(before: Rollout, after: Rollout): readonly Problem[] {
  const had = stepCount(before)
  const has = stepCount(after)
  if (had === has) return []
  return [
    problemOf('StepsFrozen', {
      value: countOfSteps(has),
      message: `a release in ${countOfSteps(had)} is running`,
      fix: `keep ${countOfSteps(had)} until the release has ended; sizes and pauses may change`,
    }),
  ]
}

function stepCount(rollout: Rollout): number {
  return rollout.spec.strategy.canary?.steps?.length ?? 0
}
