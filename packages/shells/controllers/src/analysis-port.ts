import type { JudgedAnswer, MetricAnswer, MetricRequest, RawOutcome } from '@tranche/analysis'
import type { BatchRelease } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/fence'
import type { ObjectKey } from '@tranche/kube-types'

/** Input of a pass over the analyses of a BatchRelease. */
export interface AnalysisReading {
  readonly release: BatchRelease
  /** Names of the desired nodes that run the canary revision. */
  nodes(): readonly string[]
}

/** Cluster access of the analyses. */
export interface AnalysisPort {
  /** Reads from this process's watches; null if the BatchRelease is gone or not managed by Tranche. */
  read(key: ObjectKey): AnalysisReading | null
  /** Patches the status. Throws WRITE_CONFLICT if another write came first. */
  patchStatus(release: BatchRelease, patch: readonly PatchOperation[], signal: AbortSignal): Promise<void>
}

/** Queries metric systems. */
export interface MetricPort {
  /**
   * Reads the Secrets that the request names, sends the query, and forgets the Secrets.
   *
   * @param namespace namespace of the release and of its Secrets
   * @throws the signal's reason once it aborts, and nothing else
   */
  ask(namespace: string, request: MetricRequest, signal: AbortSignal): Promise<MetricResult>
}

/** Result of a query. The message is for a person and contains no part of a Secret. */
export type MetricResult =
  | { readonly kind: 'answered'; readonly answer: MetricAnswer }
  | { readonly kind: 'failed'; readonly message: string }

/** Judges responses whose conditions are too slow to evaluate on the main thread. */
export interface JudgePort {
  /**
   * Judges like `judgeAnswer`.
   *
   * @param namespace namespace of the release: one namespace does not delay the others
   * @returns an outcome `Error` that names the conditions if they take too much time or memory
   * @throws the signal's reason once it aborts
   */
  judge(namespace: string, judged: JudgedAnswer, signal: AbortSignal): Promise<RawOutcome>
}
