import type { JobQueue } from '@tranche/queue'

/** One queue, seen from two ends, and the time it lives in. */
export interface JobQueueHarness {
  /** The end that announces. May be the same handle as `consumer`. */
  readonly producer: JobQueue
  /** The end that works. */
  readonly consumer: JobQueue
  /** Lets `ms` pass for the queue, and everything happen that is due on the way. */
  advance(ms: number): Promise<void>
  /** Resolves when the queue has nothing left to do until time passes, somebody announces or a handler settles. */
  settle(): Promise<void>
  /** How late the queue may be with a delayed announcement, in milliseconds. 0 for an exact one. */
  readonly latenessMs: number
  /** By when the queue has run a key again that failed up to three times in a row, in milliseconds from each failure. */
  readonly retryWithinMs: number
  /** Frees what the harness holds; both ends may be closed by then. */
  dispose(): Promise<void>
}
