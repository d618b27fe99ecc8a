import type { BatchReleaseStatus, FlightRecord, Permit } from '@tranche/api-schema'
import type { Allowance, PatchOperation, RecordedAllowance } from '@tranche/fence'

/** The next action of a pass over a BatchRelease. Each kind is one write, or a set of independent writes. */
export type BatchReleasePlan =
  | { readonly kind: 'setFinalizer'; readonly present: boolean }
  | { readonly kind: 'patchDaemonSet'; readonly why: DaemonSetPatchReason; readonly patch: readonly PatchOperation[] }
  /** Write the first record; its watermark is the highest version of a live list of the DaemonSet's pods (F2). */
  | { readonly kind: 'createRecord'; readonly allowance: Allowance }
  /** The record of a release in progress is gone (F11): touch every old pod, and write a record with what may be in flight. */
  | { readonly kind: 'restoreRecord'; readonly allowance: Allowance; readonly minReadyMs: number }
  /** One write of the record. `confirm`: read the release and the DaemonSet live, decide again, and write only the same decision (F9). */
  | { readonly kind: 'writeRecord'; readonly why: RecordWriteReason; readonly record: FlightRecord; readonly confirm: boolean }
  /**
   * Touch the pods of these permits, then remove the permits of standing pods in one write (F8, F10). When every pod answered clearly, a
   * record in state `voiding` becomes stopped, and `lowerTo` (a lower limit) is written with it.
   */
  | { readonly kind: 'touchPermits'; readonly permits: readonly Permit[]; readonly lowerTo: RecordedAllowance | null }
  /** Touch every old pod, so that no delete of a lost record can be accepted (F11); then continue with `next`. */
  | { readonly kind: 'touchOldPods'; readonly next: BatchReleasePlan }
  /** `confirm`: some of them are to be marked as leaked; read the record live, decide again, and label by that decision. */
  | { readonly kind: 'labelPods'; readonly pods: readonly PodLabels[]; readonly confirm: boolean }
  /** Take the Lease of the group, which has no holder, or which this release gives up (G13). */
  | { readonly kind: 'takeGroup'; readonly lease: string }
  /**
   * Take the Lease of the group from the release that it names (G13). Mark the Lease. Then raise `seq` of that release's record, if a live
   * read shows that it may leave. Then delete the Lease.
   */
  | { readonly kind: 'freeGroup'; readonly lease: string }
  /** List the desired nodes live: our view may lack some of a batch that is complete otherwise (G3). It writes nothing. */
  | { readonly kind: 'listNodes' }
  | { readonly kind: 'writeStatus'; readonly status: BatchReleaseStatusPatch }
  /** Another client changed the strategy (G11): record it in the status and as an event, before acting on it. */
  | { readonly kind: 'reportDrift'; readonly status: BatchReleaseStatusPatch; readonly message: string }
  | { readonly kind: 'wait'; readonly for: string; readonly recheckAfterMs: number | null }

/** Reason for a patch of the DaemonSet. */
export type DaemonSetPatchReason = 'takeOver' | 'reassert' | 'publish' | 'pause' | 'resume' | 'restore' | 'release' | 'touch'
/** Patches whose rejection the status says. A touch is none: it comes instead of a wait, which the status has. A stop is made without its patch. */
export type RejectablePatch = Exclude<DaemonSetPatchReason, 'touch' | 'pause'>
/** Reason for a write of the record. */
export type RecordWriteReason = 'inherit' | 'open' | 'widen' | 'narrow' | 'stop' | 'holds'

/** Release labels of one pod. */
export interface PodLabels {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Node of the pod. */
  readonly node: string
  readonly labels: Readonly<Record<string, string>>
  /** Version that the pod must still have; null: any. */
  readonly resourceVersion: string | null
}

/** BatchRelease status without the record, which executors write, too. A null member is removed. */
export type BatchReleaseStatusPatch = { readonly [Field in keyof Omit<BatchReleaseStatus, 'flight'>]?: BatchReleaseStatus[Field] | null }
