import type {
  BatchReport,
  EventReport,
  Explanation,
  HistoryReport,
  NodeReport,
  RevisionReport,
  RevisionTemplate,
  RolloutReport,
  RolloutSummary,
  ActionAnswer,
  ActionBody,
  ActionType,
} from '@tranche/api-schema'
import type { ObjectKey } from '@tranche/kube-types'
import type { SeenMember, ActionTarget } from '@tranche/actions'

/** Limits of one question. */
export interface AskOptions {
  readonly signal?: AbortSignal | undefined
  /** Limit of each request that it takes, in milliseconds. @default 15000 */
  readonly deadlineMs?: number | undefined
}

/** Filter of Rollouts. */
export interface ListRolloutsOptions extends AskOptions {
  readonly namespace?: string | undefined
  /** Label selector, as in kubectl's `-l`: `team=storage,tier!=edge`. Not supported by the REST API. */
  readonly labelSelector?: string | undefined
}

/** Names of a Rollout and of the DaemonSet that it names. */
export interface RolloutNames extends ObjectKey {
  readonly daemonSet: string
}

/** Parts to follow, and the limits. */
export interface FollowOptions<P extends ReleasePart> extends AskOptions {
  readonly signal: AbortSignal
  readonly part: P
}

/** One Rollout in full, all parts from one read. */
export interface ReleasePicture {
  readonly report: RolloutReport
  /** Every desired node, by name. */
  readonly nodes: readonly NodeReport[]
  /** In order; none without a release. */
  readonly batches: readonly BatchReport[]
  /** Newest first. */
  readonly revisions: readonly RevisionReport[]
}

/** Parts of a Rollout that can be followed. */
export interface ReleaseParts {
  readonly report: RolloutReport
  readonly picture: ReleasePicture
}
/** Name of one of the parts. */
export type ReleasePart = keyof ReleaseParts

/** Part of a Rollout at one moment. */
export interface SeenRelease<P extends ReleasePart> {
  readonly value: ReleaseParts[P]
  /** Fault that keeps it from being up to date; until it has passed, the state may be old. */
  readonly trouble?: unknown
}

/**
 * How following ended without an error: stopped by the caller, or unwatchable because the user may only read or the server has no stream.
 */
export type FollowEnd = 'stopped' | 'unwatchable'

/** Action without its user, which the release client knows. */
export interface ClientAction {
  readonly type: ActionType
  readonly body: ActionBody
  /** How long to wait for the controller's answer, in milliseconds; 0: no wait. */
  readonly waitMs: number
  /** Kind that the key names; a DaemonSet supports only `undo` and `restart`. @default Rollout */
  readonly on?: ActionTarget
  readonly idempotencyKey?: string | undefined
  /** Members of the body that the user did not give: it is the same action even if a repetition sees other values. @default none */
  readonly seen?: readonly SeenMember[]
  /** Reports what would be written, and writes nothing. @default false */
  readonly dryRun?: boolean
}

/**
 * Client for reading releases and acting on them, with the same interface over a cluster and over the REST API.
 *
 * Rejects with ROLLOUT_NOT_FOUND for a Rollout that does not exist, and with the cluster's own error for what it refuses.
 */
export interface ReleaseClient {
  /** Every Rollout of a namespace, or of all if none is given; in no particular order. */
  list(options: ListRolloutsOptions): Promise<readonly RolloutSummary[]>
  /** Names of the same Rollouts, for a search. Reads neither nodes nor pods. */
  names(options: ListRolloutsOptions): Promise<readonly RolloutNames[]>
  report(key: ObjectKey, options?: AskOptions): Promise<RolloutReport>
  picture(key: ObjectKey, options?: AskOptions): Promise<ReleasePicture>
  /**
   * Yields a Rollout in its current state, and again on each change, until `signal` aborts, as reported by watches or the stream of the
   * REST API. Rejects if the first read fails; from then on only on permanent errors, such as ROLLOUT_NOT_FOUND once it is gone.
   */
  follow?<P extends ReleasePart>(key: ObjectKey, options: FollowOptions<P>): AsyncGenerator<SeenRelease<P>, FollowEnd, undefined>
  /** Every desired node, by name. */
  nodes(key: ObjectKey, options?: AskOptions): Promise<readonly NodeReport[]>
  /**
   * Explains why a node is not updated; rejects with NODE_NOT_FOUND if the DaemonSet does not cover it. Without a node: what the Rollout
   * waits for.
   */
  explain(key: ObjectKey, node?: string, options?: AskOptions): Promise<Explanation>
  history(key: ObjectKey, options?: AskOptions): Promise<HistoryReport>
  /** Newest first. */
  events(key: ObjectKey, options?: AskOptions): Promise<readonly EventReport[]>
  /**
   * Returns one revision with its template.
   *
   * @param revision number or controller-revision-hash; rejects with REVISION_NOT_FOUND if it is not in the history
   */
  template(key: ObjectKey, revision: string, options?: AskOptions): Promise<RevisionTemplate>
  /** Writes an action, and waits for its answer for `waitMs`; rejects with the code of its refusal. @see carryOut */
  act(key: ObjectKey, action: ClientAction, options?: AskOptions): Promise<ActionAnswer>
}
