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
 * What is known of releases at this moment. Of a Rollout that does not exist everything is undefined. Nothing here is about who
 * may see it.
 */
export interface ReleaseReads {
  /** Every Rollout, in any order. */
  keys(): readonly ObjectKey[]
  summary(key: ObjectKey): RolloutSummary | undefined
  report(key: ObjectKey): RolloutReport | undefined
  /** By name. */
  nodes(key: ObjectKey): readonly NodeReport[] | undefined
  explainNode(key: ObjectKey, node: string): Explanation | undefined
  explain(key: ObjectKey): Explanation | undefined
  batches(key: ObjectKey): readonly BatchReport[] | undefined
  revisions(key: ObjectKey): readonly RevisionReport[] | undefined
  /**
   * @param revision its number or controller-revision-hash
   * @throws {AppError} REVISION_NOT_FOUND
   */
  template(key: ObjectKey, revision: string): RevisionTemplate | undefined
  history(key: ObjectKey): HistoryReport | undefined
  /** Newest first. */
  events(key: ObjectKey): readonly EventReport[] | undefined
  /** The Rollout that a DaemonSet names as its own, whether that exists or not. */
  rolloutOf(daemonSet: ObjectKey): ObjectKey | undefined
  /**
   * Of a DaemonSet, whether it has a Rollout or not.
   *
   * @param withRollout whether to tell what stands on its Rollout; else it is told as if there were none
   */
  daemonSetHistory(key: ObjectKey, withRollout: boolean): HistoryReport | undefined
}
