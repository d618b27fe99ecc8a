import type { JobQueue } from '@tranche/queue'

/** One queue, seen from two ends, and its clock. */
export interface JobQueueHarness {
  /** End that enqueues. May be the same handle as `consumer`. */
  readonly producer: JobQueue
  /** End that works. */
  readonly consumer: JobQueue
  /** Advances the queue's clock by `ms`, including everything that becomes due. */
  advance(ms: number): Promise<void>
  /** Resolves when the queue has nothing left to do until time passes, a key is enqueued, or a handler settles. */
  settle(): Promise<void>
  /** Maximum lateness of a delayed key, in milliseconds. 0 for an exact queue. */
  readonly latenessMs: number
  /** Time within which the queue reruns a key that failed up to three times in a row, in milliseconds from each failure. */
  readonly retryWithinMs: number
  /** Frees the resources of the harness; both ends may be closed by then. */
  dispose(): Promise<void>
}
