import type { JudgedAnswer, MetricAnswer, MetricRequest, RawOutcome } from '@tranche/analysis'
import type { BatchRelease } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/flight'
import type { ObjectKey } from '@tranche/kube-types'

/** What a pass over the analyses of a BatchRelease reads. */
export interface AnalysisReading {
  readonly release: BatchRelease
  /** Names of the desired nodes that run the canary revision. */
  nodes(): readonly string[]
}

/** What the analyses need from the cluster. */
export interface AnalysisPort {
  /** Reads from this process's own watches; null when the BatchRelease is gone or not ours. */
  read(key: ObjectKey): AnalysisReading | null
  /** Patches the status. A write that loses a race throws WRITE_CONFLICT. */
  patchStatus(release: BatchRelease, patch: readonly PatchOperation[], signal: AbortSignal): Promise<void>
}

/** Asks metric systems. */
export interface MetricPort {
  /**
   * Reads the secrets that the request names, asks, and forgets them.
   *
   * @param namespace of the release, and of the secrets
   * @throws the signal's reason once it aborts, and nothing else
   */
  ask(namespace: string, request: MetricRequest, signal: AbortSignal): Promise<MetricResult>
}

/** What came of asking. The message is for a person and has nothing of a secret in it. */
export type MetricResult =
  | { readonly kind: 'answered'; readonly answer: MetricAnswer }
  | { readonly kind: 'failed'; readonly message: string }

/** Judges the answers whose conditions take too long to be evaluated beside other work. */
export interface JudgePort {
  /**
   * Judges as `judgeAnswer` does.
   *
   * @param namespace of the release: one namespace does not hold up the others
   * @returns an outcome `Error` that names the conditions where they take too much time or memory
   * @throws the signal's reason once it aborts
   */
  judge(namespace: string, judged: JudgedAnswer, signal: AbortSignal): Promise<RawOutcome>
}
