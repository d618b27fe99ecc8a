import type { BatchRelease, FlightRecord } from '@tranche/api-schema'
import type { FleetPod } from '@tranche/fleet'
import type { PatchOperation, TouchAnswer } from '@tranche/flight'
import type { DaemonSet, ObjectKey } from '@tranche/kube-types'
import type { PodLabels, ReleaseView } from '@tranche/planner'

/** What a pass over a BatchRelease reads; clocks and memory are added by the pass. */
export type ReleaseReading = Omit<
  ReleaseView,
  'nowMs' | 'monotonicMs' | 'statusWrittenMs' | 'labelled' | 'unclear' | 'pauseRefused' | 'watched' | 'steadyMs' | 'movedTimes'
>

/** What is read from the API server itself, the BatchRelease first (F9). */
export interface LiveReading extends ReleaseReading {
  /** The Rollout that owns the BatchRelease asks for a stop that the BatchRelease does not know of yet, or is gone. */
  readonly stopAsked: boolean
}

/** A pod as it is touched. */
export type TouchablePod = Pick<FleetPod, 'namespace' | 'name' | 'uid' | 'terminating'>

/** What the BatchRelease reconciler needs from the cluster. Writes that lose a race throw WRITE_CONFLICT. */
export interface ReleasePort {
  /** Reads from this process's own watches; null when the BatchRelease is gone or not ours. */
  read(key: ObjectKey, signal: AbortSignal): Promise<ReleaseReading | null>
  /** Reads the BatchRelease first, then its Rollout and the DaemonSet, from the API server itself (F9). */
  readLive(key: ObjectKey, signal: AbortSignal): Promise<LiveReading | null>
  setFinalizer(release: BatchRelease, present: boolean, signal: AbortSignal): Promise<void>
  patchDaemonSet(daemonSet: DaemonSet, patch: readonly PatchOperation[], signal: AbortSignal): Promise<void>
  /** The DaemonSet's pods, from a live list. */
  listPods(daemonSet: DaemonSet, signal: AbortSignal): Promise<readonly FleetPod[]>
  /**
   * The pods of these uids, from a live list of the whole namespace, whoever controls them: one that is not listed is gone.
   */
  findPods(namespace: string, uids: ReadonlySet<string>, signal: AbortSignal): Promise<readonly TouchablePod[]>
  /** @returns false when the record is no longer the one that was read (422) */
  writeRecord(release: BatchRelease, record: FlightRecord, signal: AbortSignal): Promise<boolean>
  patchStatus(release: BatchRelease, patch: readonly PatchOperation[], signal: AbortSignal): Promise<void>
  /**
   * Moves the pod's resourceVersion, guarded by its uid (F7). Never throws: what cannot be told is `unclear`.
   *
   * @param patienceMs where so many are touched that this one has not had its turn by then (milliseconds), it is left for later: `unclear`
   */
  touchPod(pod: TouchablePod, signal: AbortSignal, patienceMs: number): Promise<TouchAnswer>
  /**
   * Puts labels on the pod with this uid; a pod that is gone is fine.
   *
   * @returns false when the pod no longer has the version that it must have
   */
  labelPod(pod: PodLabels, signal: AbortSignal): Promise<boolean>
}
