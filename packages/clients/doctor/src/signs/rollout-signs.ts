import type { Rollout } from '@tranche/api-schema'
import { type KubeObject, rolloutAnnotations } from '@tranche/kube-types'
import { isDaemonSetRef } from '@tranche/validation'

/** Facts about a Rollout of a DaemonSet. */
export interface RolloutSign {
  readonly namespace: string
  readonly name: string
  /** Name of the DaemonSet; empty without a spec. */
  readonly workload: string
  /** Name of its ReleasePolicy; empty without one. */
  readonly policy: string
  /** Whether it has no spec, which OpenKruise's definitions allow: Tranche leaves such a Rollout out. */
  readonly lacksSpec: boolean
  /** Whether its status is for the current spec, if it has one. */
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
  const { metadata, status } = object as Rollout
  const workloadRef = (object as Partial<Rollout>).spec?.workloadRef
  if (workloadRef !== undefined && !isDaemonSetRef(workloadRef)) return null
  return {
    ...{ namespace: metadata.namespace ?? '', name: metadata.name, workload: workloadRef?.name ?? '' },
    policy: metadata.annotations?.[rolloutAnnotations.releasePolicy] ?? '',
    lacksSpec: workloadRef === undefined,
    isAnswered: workloadRef === undefined || status?.observedGeneration === metadata.generation,
    isLeaving: metadata.deletionTimestamp !== undefined,
    isUnpinned: status?.conditions?.some(({ reason }) => reason === 'ConfigUnpinned') === true,
    hasUnversionedConfig: status?.conditions?.some((one) => one.type === 'ConfigUnversioned' && one.status === 'True') === true,
  }
}
