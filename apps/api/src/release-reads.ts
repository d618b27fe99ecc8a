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
} from '@tranche/api-schema'
import type { ObjectKey } from '@tranche/kube-types'

/**
 * Whether the DaemonSet of a Rollout is shown: `bound` only where it is bound to the Rollout; `any` also otherwise, to a caller that may get
 * the DaemonSet itself.
 */
export type WorkloadAccess = 'bound' | 'any'

/**
 * What is known of releases at this moment. Of a Rollout that does not exist everything is undefined. Nothing here is about who
 * may see it, but for {@link Sight}: who may write a Rollout must not see any DaemonSet by naming it.
 */
export interface ReleaseReads {
  /** Every Rollout, in any order. */
  keys(): readonly ObjectKey[]
  /** The DaemonSet that the Rollout names and that is not bound to it; undefined where it is bound or does not exist. */
  unboundWorkload(key: ObjectKey): ObjectKey | undefined
  /** As seen by anybody: of a DaemonSet that is not bound it has nothing. */
  summary(key: ObjectKey): RolloutSummary | undefined
  report(key: ObjectKey, workloadAccess: WorkloadAccess): RolloutReport | undefined
  /** By name. @throws {AppError} NOT_BOUND */
  nodes(key: ObjectKey, workloadAccess: WorkloadAccess): readonly NodeReport[] | undefined
  /** @throws {AppError} NOT_BOUND */
  explainNode(key: ObjectKey, node: string, workloadAccess: WorkloadAccess): Explanation | undefined
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
  /** Newest first; without those about a DaemonSet that is not shown. */
  events(key: ObjectKey, workloadAccess: WorkloadAccess): readonly EventReport[] | undefined
  /** The Rollout that a DaemonSet names as its own, whether that exists or not. */
  rolloutOf(daemonSet: ObjectKey): ObjectKey | undefined
  /** The Rollout and the DaemonSet that name each other. */
  boundRolloutOf(daemonSet: ObjectKey): ObjectKey | undefined
  /**
   * Of a DaemonSet, whether it has a Rollout or not.
   *
   * @param withRollout whether to tell what stands on its Rollout; else it is told as if there were none
   */
  daemonSetHistory(key: ObjectKey, withRollout: boolean): HistoryReport | undefined
}
