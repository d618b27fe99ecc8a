import type {
  BatchReport,
  EventReport,
  Explanation,
  HistoryReport,
  NodeReport,
  RevisionReport,
  RevisionTemplate,
  Rollout,
  RolloutReport,
  RolloutSummary,
} from '@tranche/api-schema'
import type { ObjectKey } from '@tranche/kube-types'
import type { EventObject } from '@tranche/release-client'

/**
 * Visibility of the DaemonSet of a Rollout. `bound`: only if it is bound to the Rollout. `any`: always, for a caller that may `get` the
 * DaemonSet itself.
 */
export type WorkloadAccess = 'bound' | 'any'

/** A Rollout without a summary: what lists are ordered and filtered by before they summarize a page. */
export interface RolloutHead extends ObjectKey {
  /** As in the summary: empty before the first status. */
  readonly phase: string
}

/** A node, and the pod of a DaemonSet on it. */
export interface NodeObjects {
  readonly node: EventObject
  /** Undefined while there is none. */
  readonly pod: EventObject | undefined
}

/**
 * Current state of releases, from the cluster cache. Everything is undefined for a Rollout that does not exist. Reads do not check
 * rights, except {@link WorkloadAccess}: a user that may write a Rollout must not see any DaemonSet by naming it.
 */
export interface ReleaseReads {
  /** Every Rollout, in any order. */
  keys(): readonly ObjectKey[]
  /** Every Rollout, in any order, at little cost. */
  heads(): readonly RolloutHead[]
  /** The Rollout as watched. */
  rollout(key: ObjectKey): Rollout | undefined
  /** The DaemonSet that the Rollout names but that is not bound to it; undefined if it is bound or does not exist. */
  unboundWorkload(key: ObjectKey): ObjectKey | undefined
  /** For any caller that may see the Rollout: omits a DaemonSet that is not bound. The same object until something changes. */
  summary(key: ObjectKey): RolloutSummary | undefined
  report(key: ObjectKey, workloadAccess: WorkloadAccess): RolloutReport | undefined
  /** Sorted by name. @throws {AppError} NOT_BOUND */
  nodes(key: ObjectKey, workloadAccess: WorkloadAccess): readonly NodeReport[] | undefined
  /** @throws {AppError} NOT_BOUND */
  explainNode(key: ObjectKey, node: string, workloadAccess: WorkloadAccess): Explanation | undefined
  /**
   * The objects on a node whose events belong to it. Undefined also if the DaemonSet does not run there.
   *
   * @throws {AppError} NOT_BOUND
   */
  nodeObjects(key: ObjectKey, node: string, workloadAccess: WorkloadAccess): NodeObjects | undefined
  explain(key: ObjectKey, workloadAccess: WorkloadAccess): Explanation | undefined
  /** @throws {AppError} NOT_BOUND */
  batches(key: ObjectKey, workloadAccess: WorkloadAccess): readonly BatchReport[] | undefined
  /** @throws {AppError} NOT_BOUND */
  revisions(key: ObjectKey, workloadAccess: WorkloadAccess): readonly RevisionReport[] | undefined
  /**
   * @param revision its number or controller-revision-hash
   * @throws {AppError} NOT_BOUND, REVISION_NOT_FOUND
   */
  template(key: ObjectKey, revision: string, workloadAccess: WorkloadAccess): RevisionTemplate | undefined
  /** @throws {AppError} NOT_BOUND */
  history(key: ObjectKey, workloadAccess: WorkloadAccess): HistoryReport | undefined
  /** Newest first; without events about a DaemonSet that is not visible. */
  events(key: ObjectKey, workloadAccess: WorkloadAccess): readonly EventReport[] | undefined
  /** The Rollout that the DaemonSet names; it may not exist. */
  rolloutOf(daemonSet: ObjectKey): ObjectKey | undefined
  /** The Rollout of the DaemonSet, only if they name each other. */
  boundRolloutOf(daemonSet: ObjectKey): ObjectKey | undefined
  /**
   * History of a DaemonSet, with or without a Rollout.
   *
   * @param withRollout whether to include the history on its Rollout; otherwise the answer is as without a Rollout
   */
  daemonSetHistory(key: ObjectKey, withRollout: boolean): HistoryReport | undefined
}
