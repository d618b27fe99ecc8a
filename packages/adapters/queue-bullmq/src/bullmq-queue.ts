import type { Clock } from '@tranche/clock'
import { type Logger, silentLogger } from '@tranche/log'
import { createWorkerPool, type JobHandler, type JobQueue, type JobQueueStats, type WorkerOptions, type Worker } from '@tranche/queue'
import type { TraceContext } from '@tranche/tracing'
import { Queue } from 'bullmq'
import { checkServer } from './check-redis.ts'
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
  /** What every key in Redis begins with: queues with different prefixes share a Redis and nothing else. No colon. @default tranche */
  readonly prefix?: string
  /** Back-off after the first failure of a key, in milliseconds; doubles with each further failure in a row. @default 100 */
  readonly backOffBaseMs?: number
  /** The longest back-off, in milliseconds. @default 30_000 */
  readonly backOffMaxMs?: number
  /** @default {@link defaultTiming} */
  readonly timing?: Partial<QueueTiming>
  /**
   * Told of every key that this process takes, for metrics: how long it had been announced, in milliseconds (≥ 0), by the wall clocks of
   * the two processes. Must not throw.
   */
  readonly onTaken?: (waitedMs: number) => void
  /** Whether runs are told in which trace they were announced (Q9), for one command to Redis a run more. @default false */
  readonly withTraces?: boolean
}

/** When somebody counts as gone. Milliseconds. */
export interface QueueTiming extends WorkerTiming {
  /** How long an announcement may take. */
  readonly callMs: number
  /** How long Redis may owe an answer before a connection to it counts as dead. */
  readonly silenceMs: number
  /** How often a process with workers looks for keys that another process delayed. */
  readonly lookMs: number
}

/** A key whose worker died is taken over after 15 to 25 seconds. */
export const defaultTiming: QueueTiming = {
  lockMs: 15_000,
  stalledCheckMs: 5_000,
  blockMs: 10_000,
  callMs: 5_000,
  silenceMs: 10_000,
  lookMs: 10_000,
}

/** BullMQ keeps a stream of events, which nobody reads. */
const EVENTS_KEPT = 100

/**
 * A {@link JobQueue} on BullMQ and Redis. Keeps every guarantee of the port, over any number of processes.
 *
 * Redis may be away at the start and at any time after: announcements are refused meanwhile, workers go on by themselves
 * when it is back, and the log has one line for the outage and one for its end. An emptied Redis costs what was announced
 * and nothing else.
 *
 * Announcements are BullMQ jobs that collapse by key (`keepLastIfActive`); delayed ones are not, see {@link DelayedKeys}.
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
  // Every error reaches who made the call, and connection errors the watcher of outages.
  queue.on('error', () => {})
  const delayed = createDelayedKeys({
    client,
    names: { due: queue.toKey('due'), failures: queue.toKey('failures') },
    clock,
    backOffBaseMs: options.backOffBaseMs ?? 100,
    backOffMaxMs: options.backOffMaxMs ?? 30_000,
    lookMs: timing.lookMs,
    onDue: (key) => addJob(state, key),
  })
  const state: QueueState = {
    ...{ redis, clock, log, prefix, timing, client, queue, delayed },
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

/** Runs a call that somebody waits for: dropped after close, and refused after a while. */
function call(state: QueueState, send: () => Promise<void>): Promise<void> {
  if (state.closed) return Promise.resolve()
  const { redis, clock, timing, queue, client } = state
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown): void => {
      timer.cancel()
      reject(explainRedisError(error, redis))
    }
    const timer = clock.setTimer(timing.callMs, () => refuse(new Error(`no answer within ${timing.callMs / 1000} s`)))
    // At first the connection is waited for; once it was there, a call without it fails at once.
    const sent = client.status === 'ready' ? send() : queue.waitUntilReady().then(send)
    sent.then(() => {
      timer.cancel()
      resolve()
    }, refuse)
  })
}

async function addJob({ queue, stuck, traces }: QueueState, key: string, trace?: TraceContext): Promise<void> {
  // An id must not be empty, and a key may be.
  const id = `/${key}`
  const options = { deduplication: { id, keepLastIfActive: true }, removeOnComplete: true, removeOnFail: true }
  // One connection keeps their order.
  await Promise.all([stuck.remove(id), trace === undefined ? undefined : traces.note(key, trace), queue.add('run', { key }, options)])
}

function startWorker(state: QueueState, handler: JobHandler, { concurrency }: WorkerOptions): Worker {
  if (!(concurrency >= 1)) throw new Error(`concurrency must be at least 1, not ${concurrency}`)
  if (state.closed) throw new Error('the queue is closed')
  const { redis, clock, log, prefix, timing, delayed, onTaken } = state
  const worker = startRedisWorker({
    ...{ prefix, concurrency, delayed, timing, onTaken, clock, log },
    traces: state.withTraces ? state.traces : undefined,
    name: QUEUE_NAME,
    client: createWorkerClient(redis, timing.blockMs + timing.silenceMs),
    member: state.pool.open(handler, concurrency),
    enqueue: (key) => addJob(state, key),
    explain: (error) => explainRedisError(error, redis),
  })
  state.workers.add(worker)
  void worker.ended.then(() => state.workers.delete(worker))
  delayed.watchAll()
  return { close: (deadlineMs) => worker.close(deadlineMs) }
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
  // What still runs notes its end over our connection.
  const ended = Promise.all(workers.map((worker) => worker.ended)).then(() => disconnect(state))
  if (state.workers.size === 0) await ended
}

async function disconnect({ queue, client }: QueueState): Promise<void> {
  await queue.close().catch(() => {})
  client.disconnect()
}
