import type { RecordedAction, Rollout, WishBody, WishType } from '@tranche/api-schema'
import type { ErrorCode } from '@tranche/errors'
import type { PatchOperation } from '@tranche/flight'
import type { ControllerRevision, DaemonSet, ObjectKey } from '@tranche/kube-types'
import type { TraceContext } from '@tranche/tracing'

/** One wish, with who asks and from where. */
export interface Wish {
  /** Under which it is recorded and answered; the same for every attempt of the same wish. */
  readonly id: string
  readonly type: WishType
  readonly body: WishBody
  /** User as the API server knows them. */
  readonly by: string
  readonly via: RecordedAction['via']
  /** Address that the request came from. */
  readonly from?: string | undefined
  /**
   * Members of the body that are what the asker saw, and not what they said: who repeats the wish may see others, and it is the same wish
   * all the same. @default none
   */
  readonly seen?: readonly SeenMember[] | undefined
  /** What the same wish has found when it was judged first; undefined where it has not been yet. Only of an `undo`. */
  readonly look?: UndoLook | undefined
  /**
   * Since when the same wish may have been carried out before, in epoch milliseconds, where anybody could send it again. Where the record
   * may have forgotten wishes of that time, it is refused: whether it is a repetition cannot be told.
   */
  readonly repeatableSinceMs?: number | undefined
  /** In which trace it was asked for; goes on record. */
  readonly trace?: TraceContext | undefined
}

/** Members that say what a wish is meant for, where the asker looks instead of saying them. */
export type SeenMember = 'expectedStep' | 'revision' | 'toRevision'

/** Which template an undo is to put back over which. */
export interface UndoLook {
  /** Of the DaemonSet. */
  readonly uid: string
  /** The template that it had, as text that is equal for equal templates. */
  readonly present: string
  /** The `controller-revision-hash` of the template that is put back. */
  readonly target: string
}

/** What a wish is judged by; each object as it was read last. */
export interface WishFacts {
  /** Undefined only where a DaemonSet without a Rollout is undone or restarted. */
  readonly rollout: Rollout | undefined
  /** Undefined where it does not exist; only `undo` and `restart` ask. */
  readonly daemonSet: DaemonSet | undefined
  /** Those that the DaemonSet owns, in any order; only `undo` asks. */
  readonly revisions: readonly ControllerRevision[]
  /** Epoch milliseconds by our clock. */
  readonly nowMs: number
}

/** On which object a wish is written and recorded. */
export type WishTarget = 'Rollout' | 'DaemonSet'

/** What a wish comes to: at most one patch of one object. */
export type WishPlan =
  | WishWrite
  /** The same wish was written before, under the same id: nothing is written again. */
  | { readonly kind: 'repeated'; readonly target: WishTarget; readonly record: RecordedAction }
  | WishRefusal

/** A wish that can be written as things stand. */
export interface WishWrite {
  readonly kind: 'write'
  readonly target: WishTarget
  readonly key: ObjectKey
  /**
   * JSON Patch that tests uid and resourceVersion: where anybody has changed the object since it was read, nothing is written,
   * and the wish has to be judged anew (G10).
   */
  readonly patch: readonly GuardedOperation[]
  /** The version that the patch tests. */
  readonly resourceVersion: string
  /** What the same patch puts on the record. */
  readonly record: RecordedAction
  /** What is written, for a person. */
  readonly message: string
  /** Of an `undo`: where nothing could be written, the same wish is judged by it when it is judged anew. */
  readonly look?: UndoLook | undefined
}

/** Codes of the error catalog with which a wish is refused. */
export type WishRefusalCode = Extract<
  ErrorCode,
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'MOVED_ON'
  | 'NOT_BOUND'
  | 'RATE_LIMITED'
  | 'REVISION_NOT_FOUND'
  | 'ROLLOUT_NOT_FOUND'
  | 'WISH_INVALID'
  | 'WISH_PENDING'
  | 'WISH_REFUSED'
  | 'WORKLOAD_NOT_FOUND'
>

/** Why a wish is not written; it is never kept for later (G10). */
export interface WishRefusal {
  readonly kind: 'refused'
  readonly code: WishRefusalCode
  /** What stands against it, with where the release stands now. */
  readonly message: string
  /** What to do instead. */
  readonly fix: string
  /** Member of the body that does not fit, or that a way out needs: what a command line says as an option. Absent where none does. */
  readonly path?: keyof WishBody
}

/** @returns a refusal */
export function refused(code: WishRefusalCode, message: string, fix: string): WishRefusal {
  return { kind: 'refused', code, message, fix }
}

/** An operation of the patch that writes a wish: what is copied onto itself must be there, whatever it is. */
export type GuardedOperation = PatchOperation | { readonly op: 'copy'; readonly path: string; readonly from: string }
