import type { BatchRelease, FlightRecord } from '@tranche/api-schema'
import type { FleetPod } from '@tranche/fleet'
import type { PatchOperation, TouchAnswer } from '@tranche/fence'
import type { DaemonSet, ObjectKey } from '@tranche/kube-types'
import type { GroupView, PodLabels, ReleaseView } from '@tranche/planner'
import type { GroupPort } from './group-port.ts'

/** Input of a pass over a BatchRelease; the pass adds clocks and memory. */
export type ReleaseReading = Omit<
  ReleaseView,
  'nowMs' | 'monotonicMs' | 'statusWrittenMs' | 'labelled' | 'unclear' | 'pauseRefused' | 'watched' | 'steadyMs' | 'movedTimes' | 'group'
> & { readonly group?: Omit<GroupView, 'freeForMs'> | undefined }

/** Input read from the API server itself, the BatchRelease first (F9). */
export interface LiveReading extends ReleaseReading {
  /** Whether the owning Rollout requests a stop that the BatchRelease does not show yet, or is gone. */
  readonly stopAsked: boolean
}

/** Objects that a live reading rests on without reading them. */
export interface KnownObjects {
  readonly release: BatchRelease
  /** The response to this process' own write, made after the version of the BatchRelease was read; undefined: read it. */
  readonly daemonSet: DaemonSet | undefined
  /** The Rollout is not read either, and no stop is reported: nothing is opened. @default it is read */
  readonly withoutRollout?: boolean
}

/** Fields of a pod that a touch needs. */
export type TouchablePod = Pick<FleetPod, 'namespace' | 'name' | 'uid' | 'terminating'>

/** Cluster access of the BatchRelease reconciler. Writes throw WRITE_CONFLICT if another write came first. */
export interface ReleasePort extends GroupPort {
  /** Reads from this process's watches; null if the BatchRelease is gone or not managed by Tranche. */
  read(key: ObjectKey, signal: AbortSignal): Promise<ReleaseReading | null>
  /**
   * Reads the BatchRelease first, then its Rollout and the DaemonSet, from the API server itself (F9).
   *
   * @param known objects that are not read: their version must be a precondition of the write that follows
   */
  readLive(key: ObjectKey, signal: AbortSignal, known?: KnownObjects): Promise<LiveReading | null>
  setFinalizer(release: BatchRelease, present: boolean, signal: AbortSignal): Promise<void>
  /** @returns the DaemonSet as stored */
  patchDaemonSet(daemonSet: DaemonSet, patch: readonly PatchOperation[], signal: AbortSignal): Promise<DaemonSet>
  /** Pods of the DaemonSet, from a live list. */
  listPods(daemonSet: DaemonSet, signal: AbortSignal): Promise<readonly FleetPod[]>
  /** Names of the desired nodes of the DaemonSet, from a live list. */
  listDesiredNodes(daemonSet: DaemonSet, signal: AbortSignal): Promise<readonly string[]>
  /** Pods with these uids, from a live list of the whole namespace, regardless of their owner: a pod that is not listed is gone. */
  findPods(namespace: string, uids: ReadonlySet<string>, signal: AbortSignal): Promise<readonly TouchablePod[]>
  /**
   * @param exact writes only if the whole BatchRelease is as it was read, and these changes of its status with the record
   * @returns false if the record has changed since it was read (422)
   */
  writeRecord(release: BatchRelease, record: FlightRecord, signal: AbortSignal, exact?: readonly PatchOperation[]): Promise<boolean>
  patchStatus(release: BatchRelease, patch: readonly PatchOperation[], signal: AbortSignal): Promise<void>
  /**
   * Changes the pod's resourceVersion, guarded by its uid (F7). Never throws: an unknown result is `unclear`.
   *
   * @param patienceMs if this touch has not been sent within this time (milliseconds), because many are queued, it is skipped: `unclear`
   */
  touchPod(pod: TouchablePod, signal: AbortSignal, patienceMs: number): Promise<TouchAnswer>
  /**
   * Puts labels on the pod with this uid; a missing pod is not an error.
   *
   * @returns false if the pod no longer has the required version
   */
  labelPod(pod: PodLabels, signal: AbortSignal): Promise<boolean>
}
