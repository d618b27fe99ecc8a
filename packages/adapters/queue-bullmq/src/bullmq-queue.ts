import type { Clock } from '@tranche/clock'
import { type Logger, silentLogger, type TraceContext } from '@tranche/telemetry'
import { createWorkerPool, type JobHandler, type JobQueue, type JobQueueStats, type WorkerOptions, type Worker } from '@tranche/queue'
import { Queue } from 'bullmq'
import { checkServer } from './check-redis.ts'
import { type Bookkeeping, createBookkeeping } from './bookkeeping.ts'
import { createDelayedKeys, type DelayedKeys } from './delayed-keys.ts'
import { explainRedisError } from './explain-error.ts'
import { createKeyTraces, type KeyTraces } from './key-traces.ts'
import { watchOutages } from './outages.ts'
import { QUEUE_NAME } from './queue-name.ts'
import { createCallClient, createWorkerClient } from './redis-client.ts'
import type { RedisSettings } from './redis-settings.ts'
import { type JobData, type RedisWorker, startRedisWorker, type WorkerTiming } from './redis-worker.ts'
import { createStuckJobs, type StuckJobs } from './stuck-jobs.ts'

/** Settings of {@link createBullmqQueue}. */
export interface BullmqQueueOptions {
  readonly redis: RedisSettings
  readonly clock: Clock
  /** @default silent */
  readonly log?: Logger
  /** Prefix of every key in Redis; queues with different prefixes share only the Redis. No colon. @default tranche */
  readonly prefix?: string
  /** Back-off after the first failure of a key, in milliseconds; doubles with each further failure in a row. @default 100 */
  readonly backOffBaseMs?: number
  /** Maximum back-off, in milliseconds. @default 30_000 */
  readonly backOffMaxMs?: number
  /** @default {@link defaultTiming} */
  readonly timing?: Partial<QueueTiming>
  /**
   * Called for every key that this process takes, for metrics, with the time since it was enqueued, in milliseconds (≥ 0), by the wall
   * clocks of the two processes. Must not throw.
   */
  readonly onTaken?: (waitedMs: number) => void
  /** Passes runs the trace in which they were enqueued (Q9), at the cost of one more Redis command per run. @default false */
  readonly withTraces?: boolean
}

/** Timeouts of the queue. Milliseconds. */
export interface QueueTiming extends WorkerTiming {
  /** Limit of one enqueue call. */
  readonly callMs: number
  /** Time without an expected reply after which a connection counts as dead. */
  readonly silenceMs: number
  /** Interval at which a process with workers looks for keys that other processes delayed. */
  readonly lookMs: number
}

/** Default timeouts: a key whose worker died is taken over after 15 to 25 seconds. */
export const defaultTiming: QueueTiming = {
  lockMs: 15_000,
  stalledCheckMs: 5_000,
  blockMs: 10_000,
  callMs: 5_000,
  silenceMs: 10_000,
  lookMs: 10_000,
}

/** Maximum length of BullMQ's event stream, which Tranche does not read. */
const EVENTS_KEPT = 100

/**
 * Creates a {@link JobQueue} on BullMQ and Redis. Keeps every guarantee of the port, over any number of processes.
 *
 * Redis may be unavailable at the start and at any later time. Meanwhile enqueue calls are refused; workers resume by themselves when Redis
 * is back. The log has one line for the outage and one for its end. An emptied Redis loses only the enqueued keys.
 *
 * Enqueued keys are BullMQ jobs that collapse by key (`keepLastIfActive`); delayed keys are not jobs, see {@link DelayedKeys}.
 */
export function createBullmqQueue(options: BullmqQueueOptions): JobQueue {
  const state = openQueue(options)
  return {
    enqueue: (key, trace) => call(state, () => addJob(state, key, trace)),
    enqueueAfter: (key, delayMs) => call(state, () => (delayMs <= 0 ? addJob(state, key) : state.delayed.delay(key, delayMs))),
    process: (handler, workerOptions) => startWorker(state, handler, workerOptions),
    stats: () => countKeys(state),
    close: (deadlineMs) => closeQueue(state, deadlineMs),
  }
}

interface QueueState {
  readonly redis: RedisSettings
  readonly clock: Clock
  readonly log: Logger
  readonly prefix: string
  readonly timing: QueueTiming
  readonly onTaken: (waitedMs: number) => void
  readonly withTraces: boolean
  readonly client: ReturnType<typeof createCallClient>
  readonly queue: Queue<JobData>
  readonly delayed: DelayedKeys
  readonly traces: KeyTraces
  readonly stuck: StuckJobs
  readonly bookkeeping: Bookkeeping
  readonly pool: ReturnType<typeof createWorkerPool<JobHandler>>
  readonly workers: Set<RedisWorker>
  closed: boolean
}

function openQueue(options: BullmqQueueOptions): QueueState {
  const { redis, clock, log = silentLogger, prefix = 'tranche' } = options
  const timing = { ...defaultTiming, ...options.timing }
  const client = createCallClient(redis, timing.silenceMs)
  const queue = new Queue<JobData>(QUEUE_NAME, {
    connection: client,
    prefix,
    skipVersionCheck: true,
    streams: { events: { maxLen: EVENTS_KEPT } },
  })
  // The caller receives every error, and the outage watcher receives connection errors.
  queue.on('error', () => {})
  const bookkeeping = createBookkeeping({ client, toKey: (type) => queue.toKey(type), log })
  const delayed = createDelayedKeys({
    client,
    names: { due: queue.toKey('due'), failures: queue.toKey('failures') },
    clock,
    backOffBaseMs: options.backOffBaseMs ?? 100,
    backOffMaxMs: options.backOffMaxMs ?? 30_000,
    lookMs: timing.lookMs,
    onDue: (key) => addJob(state, key),
    onFault: (error) => void bookkeeping.repairAfter(error),
  })
  const state: QueueState = {
    ...{ redis, clock, log, prefix, timing, client, queue, delayed, bookkeeping },
    ...{ traces: createKeyTraces(client, (name) => queue.toKey(name)), stuck: createStuckJobs(client, (type) => queue.toKey(type)) },
    onTaken: options.onTaken ?? (() => {}),
    withTraces: options.withTraces ?? false,
    pool: createWorkerPool(clock),
    workers: new Set(),
    closed: false,
  }
  watchOutages({
    client,
    settings: redis,
    clock,
    log,
    check: () => checkServer(client, redis, log),
    onBack: () => delayed.look(),
  })
  return state
}

/** Runs a call that a caller waits for: dropped after close, and refused after a timeout. */
function call(state: QueueState, send: () => Promise<void>): Promise<void> {
  if (state.closed) return Promise.resolve()
  const { redis, clock, timing, queue, client, bookkeeping } = state
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown): void => {
      timer.cancel()
      void bookkeeping.repairAfter(error)
      reject(explainRedisError(error, redis))
    }
    const timer = clock.setTimer(timing.callMs, () => refuse(new Error(`no answer within ${timing.callMs / 1000} s`)))
    // The first connection is awaited; later calls without a connection fail at once.
    const sent = client.status === 'ready' ? send() : queue.waitUntilReady().then(send)
    sent.then(() => {
      timer.cancel()
      resolve()
    }, refuse)
  })
}

async function addJob({ queue, stuck, traces }: QueueState, key: string, trace?: TraceContext): Promise<void> {
  // An id must not be empty, but a key may be.
  const id = `/${key}`
  const options = { deduplication: { id, keepLastIfActive: true }, removeOnComplete: true, removeOnFail: true }
  // One connection keeps their order.
  await Promise.all([stuck.remove(id), trace === undefined ? undefined : traces.note(key, trace), queue.add('run', { key }, options)])
}

function startWorker(state: QueueState, handler: JobHandler, { concurrency }: WorkerOptions): Worker {
  if (!(concurrency >= 1)) throw new Error(`concurrency must be at least 1, not ${concurrency}`)
  if (state.closed) throw new Error('the queue is closed')
  const { redis, clock, log, prefix, timing, delayed, bookkeeping, onTaken } = state
  const worker = startRedisWorker({
    ...{ prefix, concurrency, delayed, bookkeeping, timing, onTaken, clock, log },
    traces: state.withTraces ? state.traces : undefined,
    name: QUEUE_NAME,
    client: createWorkerClient(redis, timing.blockMs + timing.silenceMs),
    connected: firstReady(state.client),
    member: state.pool.open(handler, concurrency),
    enqueue: (key) => addJob(state, key),
    explain: (error) => explainRedisError(error, redis),
  })
  state.workers.add(worker)
  void worker.ended.then(() => state.workers.delete(worker))
  delayed.watchAll()
  return { close: (deadlineMs) => worker.close(deadlineMs) }
}

function firstReady(client: QueueState['client']): Promise<void> {
  if (client.status === 'ready') return Promise.resolve()
  return new Promise((resolve) => client.once('ready', () => resolve()))
}

async function countKeys({ queue, client, redis }: QueueState): Promise<JobQueueStats> {
  try {
    const { waiting = 0, active = 0 } = await queue.getJobCounts('waiting', 'active')
    return { waiting, active, delayed: await client.zcard(queue.toKey('due')) }
  } catch (error) {
    throw explainRedisError(error, redis)
  }
}

async function closeQueue(state: QueueState, deadlineMs: number): Promise<void> {
  state.closed = true
  state.delayed.stop()
  const workers = [...state.workers]
  await Promise.all(workers.map((worker) => worker.close(deadlineMs)))
  // A handler that still runs records its end over this connection.
  const ended = Promise.all(workers.map((worker) => worker.ended)).then(() => disconnect(state))
  if (state.workers.size === 0) await ended
}

async function disconnect({ queue, client }: QueueState): Promise<void> {
  await queue.close().catch(() => {})
  client.disconnect()
}
