import type { RecordedAction, Rollout, ActionBody, ActionType } from '@tranche/api-schema'
import type { ErrorCode } from '@tranche/errors'
import type { PatchOperation } from '@tranche/fence'
import type { ControllerRevision, DaemonSet, ObjectKey } from '@tranche/kube-types'
import type { TraceContext } from '@tranche/telemetry'

/** An action with its user and the origin of the request. */
export interface Action {
  /** Id in the record and the answer; the same for every attempt of the same action. */
  readonly id: string
  readonly type: ActionType
  readonly body: ActionBody
  /** User name as the API server reports it. */
  readonly by: string
  readonly via: RecordedAction['via']
  /** Source address of the request. */
  readonly from?: string | undefined
  /**
   * Members of the body that the client filled in from what it saw. A repetition may have other values and is still the same action.
   * @default none
   */
  readonly seen?: readonly SeenMember[] | undefined
  /** Result of the first attempt of the same `undo`; undefined before that, and for other types. */
  readonly look?: UndoLook | undefined
  /**
   * Epoch milliseconds since which the same action may have run, if the request could be sent again. The action is refused when
   * the record may have dropped actions of that time, because a repetition could not be recognized.
   */
  readonly repeatableSinceMs?: number | undefined
  /** Trace of the request; stored in the record. */
  readonly trace?: TraceContext | undefined
}

/** Members that state the target of an action and that a client may fill in from what it sees. */
export type SeenMember = 'expectedStep' | 'revision' | 'toRevision'

/** The template that an undo replaces, and the one that it restores. */
export interface UndoLook {
  /** UID of the DaemonSet. */
  readonly uid: string
  /** Text of its template; equal for equal templates. */
  readonly present: string
  /** `controller-revision-hash` of the template to restore. */
  readonly target: string
}

/** Objects that an action is checked against, each as last read. */
export interface ActionFacts {
  /** Kind of the object that the user named. @default the one on which the action is written */
  readonly on?: ActionTarget
  /** Undefined when it does not exist, and for an undo or restart of a DaemonSet without a Rollout. */
  readonly rollout: Rollout | undefined
  /** Undefined when it does not exist; only `undo` and `restart` use it. */
  readonly daemonSet: DaemonSet | undefined
  /** ControllerRevisions of the DaemonSet, in any order; only `undo` uses them, and the dry run of an `abort`. */
  readonly revisions: readonly ControllerRevision[]
  /** Epoch milliseconds by the clock of this process. */
  readonly nowMs: number
}

/** Kind of object on which an action is written and recorded. */
export type ActionTarget = 'Rollout' | 'DaemonSet'

/** Plan for an action: at most one patch of one object. */
export type ActionPlan =
  | ActionWrite
  /** The same action is already recorded under this id: nothing is written again. */
  | { readonly kind: 'repeated'; readonly target: ActionTarget; readonly record: RecordedAction }
  | ActionRejection

/** The write for an action that the present state allows. */
export interface ActionWrite {
  readonly kind: 'write'
  readonly target: ActionTarget
  readonly key: ObjectKey
  /**
   * JSON Patch that tests uid and resourceVersion. If the object has changed since it was read, nothing is written, and the action
   * must be checked again (G10).
   */
  readonly patch: readonly GuardedOperation[]
  /** resourceVersion that the patch tests. */
  readonly resourceVersion: string
  /** Record that the same patch adds. */
  readonly record: RecordedAction
  /** The change as text for users. */
  readonly message: string
  /** Only for `undo`: if the write fails, the next attempt must match it. */
  readonly look?: UndoLook | undefined
}

/** Error codes of refused actions; see docs/reference/error-codes.md. */
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

/** Why an action is not written. A refused action is never kept for later (G10). */
export interface ActionRejection {
  readonly kind: 'refused'
  readonly code: ActionRejectionCode
  /** Reason of the refusal, with the present state of the release. */
  readonly message: string
  /** The fix, as an imperative. */
  readonly fix: string
  /** Member of the body that is wrong or that the fix needs; the command line shows it as an option. Absent without one. */
  readonly path?: keyof ActionBody
}

/** @returns a refusal with code, reason and fix */
export function refused(code: ActionRejectionCode, message: string, fix: string): ActionRejection {
  return { kind: 'refused', code, message, fix }
}

/** Operation of an action's patch. A `copy` of a path onto itself tests only that the path exists. */
export type GuardedOperation = PatchOperation | { readonly op: 'copy'; readonly path: string; readonly from: string }
