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
  /** For each request that it takes, in milliseconds. @default 15000 */
  readonly deadlineMs?: number | undefined
}

/** Which Rollouts to list. */
export interface ListRolloutsOptions extends AskOptions {
  readonly namespace?: string | undefined
  /** As kubectl's `-l`: `team=storage,tier!=edge`. The REST API has none. */
  readonly labelSelector?: string | undefined
}

/** What is followed, and for how long. */
export interface FollowOptions<P extends ReleasePart> extends AskOptions {
  readonly signal: AbortSignal
  readonly part: P
}

/** One Rollout in full, all parts out of one reading. */
export interface ReleasePicture {
  readonly report: RolloutReport
  /** Every desired node, by name. */
  readonly nodes: readonly NodeReport[]
  /** In order; none while nothing is released. */
  readonly batches: readonly BatchReport[]
  /** Newest first. */
  readonly revisions: readonly RevisionReport[]
}

/** What can be followed of a Rollout. */
export interface ReleaseParts {
  readonly report: RolloutReport
  readonly picture: ReleasePicture
}
/** One of them. */
export type ReleasePart = keyof ReleaseParts

/** A part of a Rollout as it stood at one moment. */
export interface SeenRelease<P extends ReleasePart> {
  readonly value: ReleaseParts[P]
  /** What keeps it from being up to date now: until that has passed, what is shown may be old. */
  readonly trouble?: unknown
}

/** How following ended without an error: somebody has stopped it, or who asks may read and not watch, or the server has no stream. */
export type FollowEnd = 'stopped' | 'unwatchable'

/** An action without its user: the desk knows the user. */
export interface ClientAction {
  readonly type: ActionType
  readonly body: ActionBody
  /** How long to wait for the controller's answer, in milliseconds; 0: not at all. */
  readonly waitMs: number
  /** What the key names; of a DaemonSet only `undo` and `restart`. @default Rollout */
  readonly on?: ActionTarget
  readonly idempotencyKey?: string | undefined
  /** Members of the body that the user did not give: whatever a repetition sees, it is the same action. @default none */
  readonly seen?: readonly SeenMember[]
  /** Says what would be written, and writes nothing. @default false */
  readonly dryRun?: boolean
}

/**
 * What people ask of releases, the same whether a cluster or the REST API answers.
 *
 * A Rollout that does not exist rejects with ROLLOUT_NOT_FOUND; what the cluster refuses, with the error that it answered with.
 */
export interface ReleaseClient {
  /** Every Rollout of a namespace, of all where none is given; in no particular order. */
  list(options: ListRolloutsOptions): Promise<readonly RolloutSummary[]>
  report(key: ObjectKey, options?: AskOptions): Promise<RolloutReport>
  picture(key: ObjectKey, options?: AskOptions): Promise<ReleasePicture>
  /**
   * Shows a Rollout as it is, and each time that something about it has changed, until `signal` aborts: what watches, or the stream of
   * the REST API, tell. Rejects with what the first reading fails by; from then on with what does not pass by itself, such as
   * ROLLOUT_NOT_FOUND once it is gone.
   */
  follow?<P extends ReleasePart>(key: ObjectKey, options: FollowOptions<P>): AsyncGenerator<SeenRelease<P>, FollowEnd, undefined>
  /** Every desired node, by name. */
  nodes(key: ObjectKey, options?: AskOptions): Promise<readonly NodeReport[]>
  /** Why a node is not updated; rejects with NODE_NOT_FOUND where the DaemonSet has nothing to do with it. Without one: what the Rollout waits for. */
  explain(key: ObjectKey, node?: string, options?: AskOptions): Promise<Explanation>
  history(key: ObjectKey, options?: AskOptions): Promise<HistoryReport>
  /** Newest first. */
  events(key: ObjectKey, options?: AskOptions): Promise<readonly EventReport[]>
  /**
   * One revision with its template.
   *
   * @param revision number or controller-revision-hash; one that is not in the history rejects with REVISION_NOT_FOUND
   */
  template(key: ObjectKey, revision: string, options?: AskOptions): Promise<RevisionTemplate>
  /** Writes an action, and waits for its answer for `waitMs`; rejects with the code of its refusal. @see carryOut */
  act(key: ObjectKey, action: ClientAction, options?: AskOptions): Promise<ActionAnswer>
}
