import type { RecordedAction, Rollout, ActionBody, ActionType } from '@tranche/api-schema'
import type { ErrorCode } from '@tranche/errors'
import type { PatchOperation } from '@tranche/flight'
import type { ControllerRevision, DaemonSet, ObjectKey } from '@tranche/kube-types'
import type { TraceContext } from '@tranche/tracing'

/** One action, with its user and where the request came from. */
export interface Action {
  /** Under which it is recorded and answered; the same for every attempt of the same action. */
  readonly id: string
  readonly type: ActionType
  readonly body: ActionBody
  /** User as the API server knows them. */
  readonly by: string
  readonly via: RecordedAction['via']
  /** Address that the request came from. */
  readonly from?: string | undefined
  /**
   * Members of the body that the client saw and the user did not give: a repetition may see others, and is still the same action.
   * @default none
   */
  readonly seen?: readonly SeenMember[] | undefined
  /** What the first attempt of the same `undo` has found; undefined before that, and for other types. */
  readonly look?: UndoLook | undefined
  /**
   * Time, in epoch milliseconds, since which the same action may have been carried out, where a copy of it could be sent again. It is
   * refused where the record may have dropped actions of that time: a repetition could not be recognized.
   */
  readonly repeatableSinceMs?: number | undefined
  /** In which trace it was asked for; goes on record. */
  readonly trace?: TraceContext | undefined
}

/** Members that say what an action is meant for, and that a client may fill in from what it sees. */
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

/** The objects by which an action is judged, each as read last. */
export interface ActionFacts {
  /** Undefined only where a DaemonSet without a Rollout is undone or restarted. */
  readonly rollout: Rollout | undefined
  /** Undefined where it does not exist; only `undo` and `restart` ask. */
  readonly daemonSet: DaemonSet | undefined
  /** Those that the DaemonSet owns, in any order; only `undo` asks. */
  readonly revisions: readonly ControllerRevision[]
  /** Epoch milliseconds by our clock. */
  readonly nowMs: number
}

/** Kind of object on which an action is written and recorded. */
export type ActionTarget = 'Rollout' | 'DaemonSet'

/** Plan for an action: at most one patch of one object. */
export type ActionPlan =
  | ActionWrite
  /** The same action was written before, under the same id: nothing is written again. */
  | { readonly kind: 'repeated'; readonly target: ActionTarget; readonly record: RecordedAction }
  | ActionRejection

/** An action that can be written in the present state. */
export interface ActionWrite {
  readonly kind: 'write'
  readonly target: ActionTarget
  readonly key: ObjectKey
  /**
   * JSON Patch that tests uid and resourceVersion: if the object has changed since it was read, nothing is written, and the
   * action has to be judged again (G10).
   */
  readonly patch: readonly GuardedOperation[]
  /** The version that the patch tests. */
  readonly resourceVersion: string
  /** What the same patch puts on the record. */
  readonly record: RecordedAction
  /** What is written, for a person. */
  readonly message: string
  /** Only of an `undo`: where the write fails, the next attempt is judged by it. */
  readonly look?: UndoLook | undefined
}

/** Codes of the error catalog with which an action is refused. */
export type ActionRejectionCode = Extract<
  ErrorCode,
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'MOVED_ON'
  | 'NOT_BOUND'
  | 'RATE_LIMITED'
  | 'REVISION_NOT_FOUND'
  | 'ROLLOUT_NOT_FOUND'
  | 'ACTION_INVALID'
  | 'ACTION_PENDING'
  | 'ACTION_REJECTED'
  | 'WORKLOAD_NOT_FOUND'
>

/** Why an action is not written; it is never kept for later (G10). */
export interface ActionRejection {
  readonly kind: 'refused'
  readonly code: ActionRejectionCode
  /** What stands against it, with where the release stands now. */
  readonly message: string
  /** What to do instead. */
  readonly fix: string
  /** Member of the body that does not fit, or that a way out needs: what a command line says as an option. Absent where none does. */
  readonly path?: keyof ActionBody
}

/** @returns a refusal */
export function refused(code: ActionRejectionCode, message: string, fix: string): ActionRejection {
  return { kind: 'refused', code, message, fix }
}

/** An operation of the patch that writes an action: what is copied onto itself must be there, whatever it is. */
export type GuardedOperation = PatchOperation | { readonly op: 'copy'; readonly path: string; readonly from: string }
