import type { Rollout } from '@tranche/api-schema'
import type { Problem } from './problem.ts'
import { countOfSteps, STEPS_PATH } from './validate-steps.ts'
import { isDaemonSetRef, isSameWorkload } from './workload.ts'

/** Phases in which a release is under way. */
const busyPhases: readonly unknown[] = ['Progressing', 'Terminating', 'Disabling']

/**
 * Checks a change of a Rollout whose release is under way: its workload and the number of its steps stay; sizes, pauses
 * and thresholds may change.
 *
 * @returns every problem; empty when no release is under way, or the Rollout was not ours before
 */
export function validateChange(before: Rollout, after: Rollout): readonly Problem[] {
  if (!isDaemonSetRef(before.spec.workloadRef) || !busyPhases.includes(before.status?.phase)) return []
  const workload = workloadProblems(before, after)
  return isDaemonSetRef(after.spec.workloadRef) ? [...workload, ...stepCountProblems(before, after)] : workload
}

function workloadProblems(before: Rollout, after: Rollout): readonly Problem[] {
  if (isSameWorkload(before.spec.workloadRef, after.spec.workloadRef)) return []
  return [
    {
      path: 'spec.workloadRef',
      value: after.spec.workloadRef,
      message: `a release of the DaemonSet ${before.spec.workloadRef.name} is under way`,
      fix: 'wait until it has ended, or set spec.disabled first, which freezes the release where it stands',
      reason: 'InvalidSpec',
    },
  ]
}

function stepCountProblems(before: Rollout, after: Rollout): readonly Problem[] {
  const had = stepCount(before)
  const has = stepCount(after)
  if (had === has) return []
  return [
    {
      path: STEPS_PATH,
      value: countOfSteps(has),
      message: `a release in ${countOfSteps(had)} is under way`,
      fix: `keep ${countOfSteps(had)} until it has ended; sizes and pauses may change`,
      reason: 'InvalidSpec',
    },
  ]
}

function stepCount(rollout: Rollout): number {
  return rollout.spec.strategy.canary?.steps?.length ?? 0
}
