import type { Clock, Timer } from '@tranche/clock'
import { silentLogger, type Logger, type TraceContext } from '@tranche/telemetry'
import type { JobHandler, JobNote, JobOutcome, JobQueue, JobQueueStats, Worker, WorkerOptions } from './job-queue.ts'
import { createNamespaceLines, type NamespaceLines } from './namespace-lines.ts'
import { createWorkerPool, type PoolWorker, type WorkerPool } from './worker-pool.ts'

/** Settings of {@link createInProcessQueue}. */
export interface InProcessQueueOptions {
  readonly clock: Clock
  /** @default silent */
  readonly log?: Logger
  /** Back-off after the first failure of a key, in milliseconds; doubles with each further failure in a row. @default 100 */
  readonly backOffBaseMs?: number
  /** Maximum back-off, in milliseconds. @default 30_000 */
  readonly backOffMaxMs?: number
  /** Called for every taken key with the time for which it was due, in milliseconds (≥ 0), for metrics. Must not throw. */
  readonly onTaken?: (waitedMs: number) => void
}

/**
 * Creates a {@link JobQueue} in the memory of this process. Keeps every guarantee of the port, Q3 without its exception; its jobs are lost
 * when the process ends. Handlers never start inside the call that enqueued them.
 */
export function createInProcessQueue(options: InProcessQueueOptions): JobQueue {
  const state: QueueState = {
    clock: options.clock,
    log: options.log ?? silentLogger,
    backOffBaseMs: options.backOffBaseMs ?? 100,
    backOffMaxMs: options.backOffMaxMs ?? 30_000,
    onTaken: options.onTaken ?? (() => {}),
    waiting: createNamespaceLines(),
    delayed: new Map(),
    active: new Set(),
    requeued: new Map(),
    failures: new Map(),
    traces: new Map(),
    pool: createWorkerPool(options.clock),
    closed: false,
  }
  return {
    enqueue: (key, trace) => Promise.resolve(enqueueAt(state, key, state.clock.monotonicMs(), trace)),
    enqueueAfter: (key, delayMs) => Promise.resolve(enqueueAt(state, key, state.clock.monotonicMs() + Math.max(0, delayMs))),
    process: (handler, workerOptions) => startWorker(state, handler, workerOptions),
    stats: () => Promise.resolve(countKeys(state)),
    close: (deadlineMs) => closeQueue(state, deadlineMs),
  }
}

/** A key is in at most one of `waiting`, `delayed` and `active`. Times are monotonic milliseconds. */
interface QueueState {
  readonly clock: Clock
  readonly log: Logger
  readonly backOffBaseMs: number
  readonly backOffMaxMs: number
  readonly onTaken: (waitedMs: number) => void
  /** Due times. Namespaces take turns; the keys of one are in the order in which they became due. */
  readonly waiting: NamespaceLines<number>
  readonly delayed: Map<string, { readonly dueMs: number; readonly timer: Timer }>
  readonly active: Set<string>
  /** For active keys that were enqueued again: when the next run is due. */
  readonly requeued: Map<string, number>
  /** Number of failures in a row, by key. */
  readonly failures: Map<string, number>
  /** Trace in which the next run was enqueued, by key. */
  readonly traces: Map<string, TraceContext>
  readonly pool: WorkerPool<JobHandler>
  closed: boolean
}

function enqueueAt(state: QueueState, key: string, dueMs: number, trace?: TraceContext): void {
  if (state.closed) return
  if (trace !== undefined) state.traces.set(key, trace)
  if (state.active.has(key)) {
    state.requeued.set(key, Math.min(dueMs, state.requeued.get(key) ?? dueMs))
    return
  }
  if (state.waiting.has(key)) return
  const delayed = state.delayed.get(key)
  if (delayed !== undefined && delayed.dueMs <= dueMs) return
  delayed?.timer.cancel()
  state.delayed.delete(key)
  const delayMs = dueMs - state.clock.monotonicMs()
  if (delayMs <= 0) return becomeDue(state, key)
  state.delayed.set(key, { dueMs, timer: state.clock.setTimer(delayMs, () => becomeDue(state, key)) })
}

function becomeDue(state: QueueState, key: string): void {
  state.delayed.delete(key)
  state.waiting.add(key, state.clock.monotonicMs())
  dispatchSoon(state)
}

function startWorker(state: QueueState, handler: JobHandler, options: WorkerOptions): Worker {
  if (!(options.concurrency >= 1)) throw new Error(`concurrency must be at least 1, not ${options.concurrency}`)
  if (state.closed) throw new Error('the queue is closed')
  const worker = state.pool.open(handler, options.concurrency)
  dispatchSoon(state)
  return { close: (deadlineMs) => worker.close(deadlineMs) }
}

function dispatchSoon(state: QueueState): void {
  queueMicrotask(() => dispatch(state))
}

function dispatch(state: QueueState): void {
  for (let worker = state.pool.free(); worker !== null; worker = state.pool.free()) {
    const next = state.waiting.takeNext()
    if (next === null) return
    const { key, value: dueMs } = next
    state.active.add(key)
    const waitedMs = state.clock.monotonicMs() - dueMs
    state.onTaken(waitedMs)
    const trace = state.traces.get(key)
    state.traces.delete(key)
    void work(state, { key, note: { trace, waitedMs } }, worker)
  }
}

/** A taken key. */
interface Job {
  readonly key: string
  readonly note: JobNote
}

async function work(state: QueueState, job: Job, worker: PoolWorker<JobHandler>): Promise<void> {
  const { key } = job
  const outcome = await worker.run(async (handler, signal) => {
    try {
      return await succeed(state, job, handler, signal)
    } catch (error) {
      return fail(state, key, signal.aborted, error)
    }
  })
  const againMs = state.requeued.get(key)
  state.requeued.delete(key)
  state.active.delete(key)
  state.waiting.leave(key)
  if (againMs !== undefined) enqueueAt(state, key, againMs)
  if (outcome.kind === 'recheckAfter') enqueueAt(state, key, state.clock.monotonicMs() + outcome.ms, state.traces.get(key) ?? outcome.trace)
  dispatchSoon(state)
}

async function succeed(state: QueueState, { key, note }: Job, handler: JobHandler, signal: AbortSignal): Promise<JobOutcome> {
  const outcome = await handler(key, signal, note)
  state.failures.delete(key)
  return outcome
}

function fail(state: QueueState, key: string, aborted: boolean, error: unknown): JobOutcome {
  const attempt = (state.failures.get(key) ?? 0) + 1
  state.failures.set(key, attempt)
  const ms = Math.min(state.backOffMaxMs, state.backOffBaseMs * 2 ** (attempt - 1))
  if (!aborted) state.log.warn({ key, attempt, recheckAfterMs: ms, err: error }, 'job failed')
  return { kind: 'recheckAfter', ms }
}

function countKeys(state: QueueState): JobQueueStats {
  const nowMs = state.clock.monotonicMs()
  const again = [...state.requeued.values()]
  const againDue = again.filter((dueMs) => dueMs <= nowMs).length
  return {
    waiting: state.waiting.size + againDue,
    delayed: state.delayed.size + again.length - againDue,
    active: state.active.size,
  }
}

function closeQueue(state: QueueState, deadlineMs: number): Promise<void> {
  state.closed = true
  for (const { timer } of state.delayed.values()) timer.cancel()
  state.delayed.clear()
  state.waiting.clear()
  state.traces.clear()
  return state.pool.close(deadlineMs)
}
