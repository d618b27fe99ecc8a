import type { Rollout } from '@tranche/api-schema'
import type { KubeObject } from '@tranche/kube-types'
import { isDaemonSetRef } from '@tranche/validation'

/** What is kept of a Rollout of a DaemonSet. */
export interface RolloutSign {
  readonly namespace: string
  readonly name: string
  /** Name of the DaemonSet. */
  readonly workload: string
  /** Its status is of its present spec. */
  readonly isAnswered: boolean
  /** It is deleted as soon as its finalizers are gone. */
  readonly isLeaving: boolean
}

/** @returns what a Rollout says of the controller; null where another one is to answer it */
export function toRolloutSign(object: KubeObject): RolloutSign | null {
  const { metadata, spec, status } = object as Rollout
  if (!isDaemonSetRef(spec.workloadRef)) return null
  return {
    ...{ namespace: metadata.namespace ?? '', name: metadata.name, workload: spec.workloadRef.name },
    isAnswered: status?.observedGeneration === metadata.generation,
    isLeaving: metadata.deletionTimestamp !== undefined,
  }
}
