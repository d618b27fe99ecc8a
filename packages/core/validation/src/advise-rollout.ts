import type { Rollout } from '@tranche/api-schema'
import { adviceRules } from './problems/advice-rules.ts'
import { type Advice, adviceOf } from './problems/problem.ts'
import { EVERY_NODE, isSize } from './fields/validate-sizes.ts'
import { nodeSets, STEPS_PATH } from './fields/validate-steps.ts'
import { isDaemonSetRef, otherWorkloadFix } from './fields/workload.ts'

/** Facts about the cluster that advice about a Rollout depends on. */
export interface AdviceSurroundings {
  /** Nodes on which the DaemonSet should run; null while not known. */
  readonly desired: number | null
  /** Whether the DaemonSet exists; null while not known. */
  readonly workloadExists: boolean | null
}

const unknownSurroundings: AdviceSurroundings = { desired: null, workloadExists: null }

/** Advice about a Rollout: settings that are allowed but may surprise. Admission and `lint` show it as warnings. */
export function adviseRollout(rollout: Rollout, surroundings: AdviceSurroundings = unknownSurroundings): readonly Advice[] {
  const { apiVersion, kind, name } = rollout.spec.workloadRef
  if (!isDaemonSetRef(rollout.spec.workloadRef)) {
    const fix = otherWorkloadFix(rollout.spec.workloadRef, adviceRules.OtherWorkload.fix)
    return [adviceOf('OtherWorkload', { value: `${kind} of ${apiVersion}`, fix })]
  }
  return [
    ...(surroundings.workloadExists === false ? [adviceOf('WorkloadAbsent', { value: name })] : []),
    ...sizeAdvice(rollout, surroundings.desired),
    ...lastStepAdvice(rollout, surroundings.desired),
    ...ignoredAdvice(rollout),
  ]
}

/** No advice while the DaemonSet runs on no node: its sizes cannot be judged yet. */
function sizeAdvice({ spec }: Rollout, desired: number | null): readonly Advice[] {
  if (desired === null || desired === 0) return []
  return (spec.strategy.canary?.steps ?? []).flatMap(({ replicas }, index) =>
    typeof replicas === 'number' && replicas > desired
      ? [adviceOf('SizeAboveFleet', { path: `${STEPS_PATH}[${index}].replicas`, value: replicas })]
      : [],
  )
}

const lastStepChooses = 'the last step selects nodes, so the remaining nodes follow in one more batch after its pause'

/** A whole number can be compared with the fleet only when `desired` is known. */
function lastStepAdvice({ spec }: Rollout, desired: number | null): readonly Advice[] {
  const steps = spec.strategy.canary?.steps ?? []
  const last = steps.at(-1)
  if (last !== undefined && nodeSets(steps).at(-1) !== EVERY_NODE) {
    return [adviceOf('LastStepBelowAll', { path: `${STEPS_PATH}[${steps.length - 1}].nodes`, value: last.nodes, message: lastStepChooses })]
  }
  const size = last?.replicas
  // An invalid size is reported as a problem instead.
  const isAll = !isSize(size) || (typeof size === 'number' ? desired === null || size >= desired : size === '100%')
  return isAll ? [] : [adviceOf('LastStepBelowAll', { path: `${STEPS_PATH}[${steps.length - 1}].replicas`, value: size })]
}

function ignoredAdvice({ spec }: Rollout): readonly Advice[] {
  const { enableExtraWorkloadForCanary, disableGenerateCanaryService } = spec.strategy.canary ?? {}
  return [
    ...(enableExtraWorkloadForCanary === true ? [adviceOf('ExtraWorkload', { value: true })] : []),
    ...(disableGenerateCanaryService === true ? [adviceOf('CanaryService', { value: true })] : []),
  ]
}
