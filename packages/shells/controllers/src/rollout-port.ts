import type { BatchRelease, BatchReleaseSpec, Rollout, RolloutStatus } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/flight'
import type { DaemonSet, ObjectKey } from '@tranche/kube-types'
import type { RolloutView } from '@tranche/planner'

/** What a pass over a Rollout reads; clocks and memory are added by the pass. */
export type RolloutReading = Omit<RolloutView, 'nowMs' | 'monotonicMs' | 'statusWrittenMs' | 'revisionMissingSinceMs'>

/** What the Rollout reconciler needs from the cluster. Writes that lose a race throw WRITE_CONFLICT. */
export interface RolloutPort {
  /** Reads from this process's own watches; null when the Rollout is gone. */
  read(key: ObjectKey): RolloutReading | null
  /** Reads from the API server itself whether a BatchRelease of the Rollout's name exists. */
  releaseExists(rollout: Rollout, signal: AbortSignal): Promise<boolean>
  setFinalizer(rollout: Rollout, present: boolean, signal: AbortSignal): Promise<void>
  /** Writes these annotations, which are ours, and takes away those that are null; with the resourceVersion that was read. */
  setAnnotations(rollout: Rollout, annotations: Readonly<Record<string, string | null>>, signal: AbortSignal): Promise<void>
  patchDaemonSet(daemonSet: DaemonSet, patch: readonly PatchOperation[], signal: AbortSignal): Promise<void>
  /** Creates the BatchRelease of the same name, owned by the Rollout. */
  createRelease(rollout: Rollout, spec: BatchReleaseSpec, signal: AbortSignal): Promise<void>
  /** Replaces the spec, with the uid and the generation that were read as preconditions: the record in the status may move meanwhile. */
  updateRelease(release: BatchRelease, spec: BatchReleaseSpec, signal: AbortSignal): Promise<void>
  /** Asks for deletion of this very BatchRelease (by uid). */
  deleteRelease(release: BatchRelease, signal: AbortSignal): Promise<void>
  /** Replaces the status, with the resourceVersion that was read as precondition (G10). */
  writeStatus(rollout: Rollout, status: RolloutStatus, signal: AbortSignal): Promise<void>
}
