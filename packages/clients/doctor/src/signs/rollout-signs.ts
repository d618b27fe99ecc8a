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
  /** Whether a controller has read the current spec, if it has one: the status is for it, or says that the Rollout is on its end. */
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
    isAnswered: workloadRef === undefined || status?.observedGeneration === metadata.generation || isHandled(object as Rollout),
    isLeaving: metadata.deletionTimestamp !== undefined,
    isUnpinned: status?.conditions?.some(({ reason }) => reason === 'ConfigUnpinned') === true,
    hasUnversionedConfig: status?.conditions?.some((one) => one.type === 'ConfigUnversioned' && one.status === 'True') === true,
  }
}

/**
 * A status observes the generation that ends a release only once the release has ended, and no generation while the API server rejects what
 * follows from it.
 */
function isHandled({ metadata, spec, status }: Rollout): boolean {
  if (status?.conditions?.some(({ type, reason }) => type === 'Stalled' && reason === 'ChangeRejected') === true) return true
  if (status?.phase === 'Terminating') return metadata.deletionTimestamp !== undefined
  return status?.phase === 'Disabling' && spec.disabled === true
}
