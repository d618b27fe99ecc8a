import type { TraceContext } from '@tranche/telemetry'

/**
 * Queue of jobs between programs. A job is a key and nothing else: it says *where* to look, never what to do.
 *
 * Each key has at most one pending job, with one due time. Every enqueue can only move that time earlier:
 *
 * ```text
 *            enqueue: due now         due, a worker is free        handler settles
 *   nothing ───────────────────▶ pending ───────────────────▶ active ───────────▶ nothing
 *            enqueueAfter: due        ▲                        │ enqueued meanwhile, recheckAfter, thrown
 *            after the delay           └────────────────────────┘
 * ```
 *
 * Guarantees, proved for every implementation by `queue-conformance`:
 *
 * - Q1 Enqueues of a pending key collapse into one run.
 * - Q2 Enqueues of an active key cause exactly one more run afterwards, however many there were.
 * - Q3 Runs of one key do not overlap in normal operation. A worker that lost its lock on a job (frozen, cut off from the
 *   queue) may overlap with the next: a handler that must not overlap needs its own fence.
 * - Q4 Runs of different keys are parallel, up to the worker's concurrency.
 * - Q5 An immediate enqueue overtakes a delayed one; a delayed enqueue never postpones a job that is due earlier.
 * - Q6 A handler that throws runs again after a back-off that grows with every failure in a row, up to a maximum.
 *   The key accepts enqueues meanwhile: an enqueue during the back-off runs when the back-off ends at the latest.
 * - Q7 After `close` no handler starts. The signals of handlers that still run at the deadline abort.
 * - Q8 Keys enqueued before any worker exists are kept.
 * - Q9 A run receives the trace in which its key was last enqueued, if an enqueue since the last run gave one. Nothing else
 *   depends on the trace, and it may be lost by itself.
 *
 * A queue may lose or repeat jobs when it breaks. Its users recheck everything periodically by themselves, so a lost,
 * repeated or late job costs only time.
 */
export interface JobQueue {
  /**
   * Requests a run of `key` as soon as possible. Dropped after `close`.
   *
   * @param trace trace that the run follows; a queue does not read it
   * @throws if the queue cannot be reached; the key may have been enqueued all the same
   */
  enqueue(key: string, trace?: TraceContext): Promise<void>
  /**
   * Requests a run of `key` in `delayMs` (≥ 0), or earlier if another call asks for that. Dropped after `close`.
   *
   * @throws if the queue cannot be reached; the key may have been enqueued all the same
   */
  enqueueAfter(key: string, delayMs: number): Promise<void>
  /** Starts a worker on this queue. A queue may have several; only one of them works on a key at a time (Q3). */
  process(handler: JobHandler, options: WorkerOptions): Worker
  /** Number of keys by state; approximate if other processes use the same queue. */
  stats(): Promise<JobQueueStats>
  /**
   * Closes this end of the queue and all workers that it started: none of their handlers starts any more.
   *
   * @param deadlineMs how long running handlers may continue before their signals abort (≥ 0); of several calls the earliest deadline
   *   counts
   * @returns once none of them runs, or right after the abort at the deadline
   */
  close(deadlineMs: number): Promise<void>
}

/**
 * Works on one key. The signal aborts when the worker closes and its deadline has passed, or when the queue gave the key to another worker.
 *
 * @throws any error; the key is run again after a back-off (Q6)
 */
export type JobHandler = (key: string, signal: AbortSignal, note?: JobNote) => Promise<JobOutcome>

/** Input of a run besides its key. */
export interface JobNote {
  /** Q9: trace in which the key was enqueued. Unvalidated: another writer may have put anything there. */
  readonly trace?: TraceContext | undefined
  /** How long the key was due, in milliseconds (≥ 0). */
  readonly waitedMs: number
}

/**
 * Next step for a key: nothing until it is enqueued, or an `enqueueAfter` of its own in `ms` (≥ 0). That run gets the `trace` (Q9) unless
 * an enqueue brings another one.
 */
export type JobOutcome =
  | { readonly kind: 'awaitChange' }
  | { readonly kind: 'recheckAfter'; readonly ms: number; readonly trace?: TraceContext | undefined }

/** Options of a worker. */
export interface WorkerOptions {
  /** Maximum number of handlers that run in parallel in this worker (≥ 1). */
  readonly concurrency: number
}

/** Handler that works on a queue. */
export interface Worker {
  /** Like {@link JobQueue.close}, for this worker alone; the queue stays open and keeps enqueued keys. */
  close(deadlineMs: number): Promise<void>
}

/** Number of keys by state. A key that is active and enqueued again counts in both. */
export interface JobQueueStats {
  /** Due, waiting for a worker. */
  readonly waiting: number
  /** Not due yet, back-off included. */
  readonly delayed: number
  /** Being worked on now. */
  readonly active: number
}
