import type { Rollout } from '@tranche/api-schema'
import type { KubeObject } from '@tranche/kube-types'
import { isDaemonSetRef } from '@tranche/validation'

/** Facts about a Rollout of a DaemonSet. */
export interface RolloutSign {
  readonly namespace: string
  readonly name: string
  /** Name of the DaemonSet. */
  readonly workload: string
  /** Whether its status is for the current spec. */
  readonly isAnswered: boolean
  /** Whether it is being deleted, and waits for its finalizers. */
  readonly isLeaving: boolean
  /** Whether its condition `ConfigUnversioned` is True. */
  readonly hasUnversionedConfig: boolean
  /** Whether its release holds because config is not pinned as its policy asks. */
  readonly isUnpinned: boolean
}

/** @returns the facts about a Rollout; null if another controller handles it */
export function toRolloutSign(object: KubeObject): RolloutSign | null {
  const { metadata, spec, status } = object as Rollout
  if (!isDaemonSetRef(spec.workloadRef)) return null
  return {
    ...{ namespace: metadata.namespace ?? '', name: metadata.name, workload: spec.workloadRef.name },
    isAnswered: status?.observedGeneration === metadata.generation,
    isLeaving: metadata.deletionTimestamp !== undefined,
    isUnpinned: status?.conditions?.some(({ reason }) => reason === 'ConfigUnpinned') === true,
    hasUnversionedConfig: status?.conditions?.some((one) => one.type === 'ConfigUnversioned' && one.status === 'True') === true,
  }
}
