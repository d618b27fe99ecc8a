import type { Rollout } from '@tranche/api-schema'
import { adviceRules } from './advice-rules.ts'
import { type Advice, adviceOf } from './problem.ts'
import { EVERY_NODE, isSize } from './validate-sizes.ts'
import { nodeSets, STEPS_PATH } from './validate-steps.ts'
import { isDaemonSetRef, otherWorkloadFix } from './workload.ts'

/** What is known of the cluster when a Rollout is looked at for what may surprise. */
export interface AdviceSurroundings {
  /** Nodes on which the DaemonSet should run; null while not known. */
  readonly desired: number | null
  /** Whether the DaemonSet exists; null while not known. */
  readonly workloadExists: boolean | null
}

const unknownSurroundings: AdviceSurroundings = { desired: null, workloadExists: null }

/** What is allowed and yet may surprise; shown as warnings by admission and `lint`. */
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

/** A DaemonSet that runs nowhere yet says nothing about sizes. */
function sizeAdvice({ spec }: Rollout, desired: number | null): readonly Advice[] {
  if (desired === null || desired === 0) return []
  return (spec.strategy.canary?.steps ?? []).flatMap(({ replicas }, index) =>
    typeof replicas === 'number' && replicas > desired
      ? [adviceOf('SizeAboveFleet', { path: `${STEPS_PATH}[${index}].replicas`, value: replicas })]
      : [],
  )
}

const lastStepChooses = 'the last step chooses nodes: after its pause the remaining ones follow as one more batch'

/** Of a number it can be told only where the nodes are known. */
function lastStepAdvice({ spec }: Rollout, desired: number | null): readonly Advice[] {
  const steps = spec.strategy.canary?.steps ?? []
  const last = steps.at(-1)
  if (last !== undefined && nodeSets(steps).at(-1) !== EVERY_NODE) {
    return [adviceOf('LastStepBelowAll', { path: `${STEPS_PATH}[${steps.length - 1}].nodes`, value: last.nodes, message: lastStepChooses })]
  }
  const size = last?.replicas
  // What is no size is told as a problem.
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
