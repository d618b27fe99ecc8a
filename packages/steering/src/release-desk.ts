import type { BatchReport, NodeReport, RevisionReport, RolloutReport, RolloutSummary } from '@tranche/api-schema'
import type { ObjectKey } from '@tranche/kube-types'

/** Limits of one question. */
export interface AskOptions {
  readonly signal?: AbortSignal | undefined
  /** For each request that it takes, in milliseconds. @default 15000 */
  readonly deadlineMs?: number | undefined
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

/**
 * What people ask of releases, the same whether a cluster or the REST API answers.
 *
 * A Rollout that does not exist rejects with ROLLOUT_NOT_FOUND; what the cluster refuses, with the error that it answered with.
 */
export interface ReleaseDesk {
  /** Every Rollout of a namespace, of all where none is given; in no particular order. */
  list(options: AskOptions & { readonly namespace?: string | undefined }): Promise<readonly RolloutSummary[]>
  report(key: ObjectKey, options?: AskOptions): Promise<RolloutReport>
  picture(key: ObjectKey, options?: AskOptions): Promise<ReleasePicture>
}
