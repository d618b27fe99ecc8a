import type { BatchRelease, FlightRecord } from '@tranche/api-schema'
import type { FleetPod } from '@tranche/fleet'
import type { PatchOperation, TouchAnswer } from '@tranche/flight'
import type { DaemonSet, ObjectKey } from '@tranche/kube-types'
import type { PodLabels, ReleaseView } from '@tranche/planner'

/** What a pass over a BatchRelease reads; clocks and memory are added by the pass. */
export type ReleaseReading = Omit<ReleaseView, 'nowMs' | 'monotonicMs' | 'statusWrittenMs' | 'labelled' | 'unclear'>

/** A pod as it is touched. */
export type TouchablePod = Pick<FleetPod, 'namespace' | 'name' | 'uid'>

/** What the BatchRelease reconciler needs from the cluster. Writes that lose a race throw WRITE_CONFLICT. */
export interface ReleasePort {
  /** Reads from this process's own watches; null when the BatchRelease is gone or not ours. */
  read(key: ObjectKey): Promise<ReleaseReading | null>
  /** Reads the BatchRelease first, then the DaemonSet, from the API server itself (F9). */
  readLive(key: ObjectKey, signal: AbortSignal): Promise<ReleaseReading | null>
  setFinalizer(release: BatchRelease, present: boolean, signal: AbortSignal): Promise<void>
  patchDaemonSet(daemonSet: DaemonSet, patch: readonly PatchOperation[], signal: AbortSignal): Promise<void>
  /** The DaemonSet's pods, from a live list. */
  listPods(daemonSet: DaemonSet, signal: AbortSignal): Promise<readonly FleetPod[]>
  /** @returns false when the record is no longer the one that was read (422) */
  writeRecord(release: BatchRelease, record: FlightRecord, signal: AbortSignal): Promise<boolean>
  patchStatus(release: BatchRelease, patch: readonly PatchOperation[], signal: AbortSignal): Promise<void>
  /** Moves the pod's resourceVersion, guarded by its uid (F7). Never throws: what cannot be told is `unclear`. */
  touchPod(pod: TouchablePod, signal: AbortSignal): Promise<TouchAnswer>
  /** Puts labels on the pod with this uid; a pod that is gone is fine. */
  labelPod(pod: PodLabels, signal: AbortSignal): Promise<void>
}
