import type { BatchRelease, BatchReleaseSpec, Rollout, RolloutStatus } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/fence'
import type { DaemonSet, ObjectKey } from '@tranche/kube-types'
import type { RolloutView } from '@tranche/planner'

/** Input of a pass over a Rollout; the pass adds clocks and memory. */
export type RolloutReading = Omit<
  RolloutView,
  | 'nowMs'
  | 'monotonicMs'
  | 'statusWrittenMs'
  | 'revisionMissingSinceMs'
  | 'rejected'
  | 'immutableConfigMaps'
  | 'configHold'
  | 'rolledBackConfig'
  | 'pinsSecrets'
>

/** Cluster access of the Rollout reconciler. Writes throw WRITE_CONFLICT if another write came first. */
export interface RolloutPort {
  /** Reads from this process's watches; null if the Rollout is gone. */
  read(key: ObjectKey): RolloutReading | null
  /** Reads from the API server itself whether a BatchRelease with the Rollout's name exists. */
  releaseExists(rollout: Rollout, signal: AbortSignal): Promise<boolean>
  /** Reads live whether the Rollout still has the spec that was read. */
  isNewest(rollout: Rollout, signal: AbortSignal): Promise<boolean>
  setFinalizer(rollout: Rollout, present: boolean, signal: AbortSignal): Promise<void>
  /** Writes these annotations of Tranche and removes those that are null; the resourceVersion that was read is a precondition. */
  setAnnotations(rollout: Rollout, annotations: Readonly<Record<string, string | null>>, signal: AbortSignal): Promise<void>
  patchDaemonSet(daemonSet: DaemonSet, patch: readonly PatchOperation[], signal: AbortSignal): Promise<void>
  /** Creates the BatchRelease of the same name, owned by the Rollout. */
  createRelease(rollout: Rollout, spec: BatchReleaseSpec, signal: AbortSignal): Promise<void>
  /** Replaces the spec. The uid and generation that were read are preconditions: the record in the status may change meanwhile. */
  updateRelease(release: BatchRelease, spec: BatchReleaseSpec, signal: AbortSignal): Promise<void>
  /** Deletes the BatchRelease with this uid. */
  deleteRelease(release: BatchRelease, signal: AbortSignal): Promise<void>
  /** Replaces the status, with the resourceVersion that was read as precondition (G10). */
  writeStatus(rollout: Rollout, status: RolloutStatus, signal: AbortSignal): Promise<void>
}
