import type { BatchReleaseStatus, FlightRecord, Permit } from '@tranche/api-schema'
import type { Allowance, PatchOperation, RecordedAllowance } from '@tranche/flight'

/** The one thing a pass over a BatchRelease should do. Each kind is one write, or a set of writes that stand alone. */
export type BatchReleasePlan =
  | { readonly kind: 'setFinalizer'; readonly present: boolean }
  | { readonly kind: 'patchDaemonSet'; readonly why: DaemonSetPatchReason; readonly patch: readonly PatchOperation[] }
  /** The first record; its watermark is the highest version of a live list of the DaemonSet's pods (F2). */
  | { readonly kind: 'createRecord'; readonly allowance: Allowance }
  /** The record of a release under way is gone (F11): every old pod is touched, and what may be in flight is in the new record. */
  | { readonly kind: 'restoreRecord'; readonly allowance: Allowance; readonly minReadyMs: number }
  /** One write of the record. `confirm`: read the release and the DaemonSet live, decide again, and write only if it is the same (F9). */
  | { readonly kind: 'writeRecord'; readonly why: RecordWriteReason; readonly record: FlightRecord; readonly confirm: boolean }
  /**
   * Touch the pods of these permits, then one write that takes those that stand out of the record (F8, F10). When
   * every pod answered clearly, a voiding record becomes stopped and `lowerTo` (a lower limit) is written with it.
   */
  | { readonly kind: 'touchPermits'; readonly permits: readonly Permit[]; readonly lowerTo: RecordedAllowance | null }
  /** Touch every old pod, so that no delete of a lost record can be accepted (F11); then go on with `next`. */
  | { readonly kind: 'touchOldPods'; readonly next: BatchReleasePlan }
  /** `confirm`: some of them are to be marked as leaked; read the record live, decide again, and label what is decided then. */
  | { readonly kind: 'labelPods'; readonly pods: readonly PodLabels[]; readonly confirm: boolean }
  | { readonly kind: 'writeStatus'; readonly status: BatchReleaseStatusPatch }
  /** Somebody set the strategy back (G11): the status remembers it before anything is done about it, and an event says so. */
  | { readonly kind: 'reportDrift'; readonly status: BatchReleaseStatusPatch; readonly message: string }
  | { readonly kind: 'wait'; readonly for: string; readonly recheckAfterMs: number | null }

/** Why a DaemonSet is patched. */
export type DaemonSetPatchReason = 'takeOver' | 'reassert' | 'publish' | 'pause' | 'resume' | 'restore' | 'release' | 'touch'
/** Why a record is written. */
export type RecordWriteReason = 'inherit' | 'open' | 'widen' | 'narrow' | 'stop' | 'holds'

/** Release labels for one pod. */
export interface PodLabels {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Node of the pod. */
  readonly node: string
  readonly labels: Readonly<Record<string, string>>
  /** The version that the pod must still have; null where any will do. */
  readonly resourceVersion: string | null
}

/** Everything of a BatchRelease's status but the record, which executors write too. A member that is null is removed. */
export type BatchReleaseStatusPatch = { readonly [Field in keyof Omit<BatchReleaseStatus, 'flight'>]?: BatchReleaseStatus[Field] | null }
