import type { TraceContext } from '@tranche/tracing'

/**
 * A queue of jobs between programs. A job is a key and nothing else: it says *where* to look, never what to do.
 *
 * For each key there is at most one pending announcement, with one moment at which it is due. Every announcement only
 * ever moves that moment nearer:
 *
 * ```text
 *            announce: due now        due, a worker is free        handler settles
 *   nothing ───────────────────▶ pending ───────────────────▶ active ───────────▶ nothing
 *            enqueueAfter: due        ▲                        │ announced meanwhile, recheckAfter, thrown
 *            after the delay           └────────────────────────┘
 * ```
 *
 * Guarantees, proved for every implementation by `queue-conformance`:
 *
 * - Q1 Announcements of a key that is pending collapse into one run.
 * - Q2 An announcement made while the key is active leads to exactly one more run afterwards, however many there were.
 * - Q3 Runs of one key never overlap while all is well. A worker that lost its lock on a job (frozen, cut off from the
 *   queue) may overlap with the next: whoever must not, needs a fence of his own.
 * - Q4 Runs of different keys go side by side, up to the worker's concurrency.
 * - Q5 A delayed announcement is overtaken by an immediate one, and never postpones one that is due earlier.
 * - Q6 A handler that throws is run again after a back-off that grows with every failure in a row and has a ceiling.
 *   The key takes announcements all the while: one made during the back-off is worked at its end at the latest.
 * - Q7 After `close` no handler starts. Handlers that still run at the deadline see their signal abort.
 * - Q8 Announcements made before any worker exists are kept.
 * - Q9 A run is told in which trace its key was announced last, where an announcement since the last run said so. Nothing else
 *   depends on it, and it may be lost by itself.
 *
 * A queue may lose jobs or repeat them when it breaks. Its users look at everything now and then by themselves, so that
 * a lost, repeated or late job changes nothing but the time.
 */
export interface JobQueue {
  /**
   * Asks for a run of `key` as soon as possible. Dropped after `close`.
   *
   * @param trace where it comes after; a queue does not read it
   * @throws when the queue cannot be reached; the announcement may have been taken all the same
   */
  enqueue(key: string, trace?: TraceContext): Promise<void>
  /**
   * Asks for a run of `key` in `delayMs` (≥ 0), or earlier if somebody else asks for an earlier one. Dropped after `close`.
   *
   * @throws when the queue cannot be reached; the announcement may have been taken all the same
   */
  enqueueAfter(key: string, delayMs: number): Promise<void>
  /** Starts a worker on this queue. A queue may have several; a key is worked by one of them at a time (Q3). */
  process(handler: JobHandler, options: WorkerOptions): Worker
  /** How many keys are in which state; approximate where others use the same queue. */
  stats(): Promise<JobQueueStats>
  /**
   * Closes this end of the queue and all workers that it started: none of their handlers starts any more.
   *
   * @param deadlineMs how long running handlers may go on before their signals abort (≥ 0); of several calls the earliest deadline holds
   * @returns once none of them runs, or right after the abort at the deadline
   */
  close(deadlineMs: number): Promise<void>
}

/**
 * Works on one key. The signal aborts when the worker closes and its deadline has passed, or when the queue gave the
 * key to somebody else.
 *
 * @throws anything, to be run again after a back-off (Q6)
 */
export type JobHandler = (key: string, signal: AbortSignal, note?: JobNote) => Promise<JobOutcome>

/** What a run is told beside its key. */
export interface JobNote {
  /** Q9: in which trace it was announced, as somebody wrote it: it may be anything. */
  readonly trace?: TraceContext | undefined
  /** For how long it was due, in milliseconds (≥ 0). */
  readonly waitedMs: number
}

/**
 * What comes next for a key: nothing until somebody announces it, or an `enqueueAfter` of its own in `ms` (≥ 0), whose run is told the
 * `trace` (Q9) where no announcement says another.
 */
export type JobOutcome =
  | { readonly kind: 'awaitChange' }
  | { readonly kind: 'recheckAfter'; readonly ms: number; readonly trace?: TraceContext | undefined }

/** How a worker works. */
export interface WorkerOptions {
  /** Most handlers that run side by side in this worker (≥ 1). */
  readonly concurrency: number
}

/** A handler at work on a queue. */
export interface Worker {
  /** Like {@link JobQueue.close}, for this worker alone; the queue stays open and keeps what is announced. */
  close(deadlineMs: number): Promise<void>
}

/** Numbers of keys by state. A key that is active and announced again counts in both. */
export interface JobQueueStats {
  /** Due, waiting for a worker. */
  readonly waiting: number
  /** Not due yet, back-off included. */
  readonly delayed: number
  /** Worked on now. */
  readonly active: number
}
