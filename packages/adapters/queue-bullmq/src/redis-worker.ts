import { type Clock, sleep, type Timer } from '@tranche/clock'
import type { Logger } from '@tranche/telemetry'
import type { JobHandler, JobNote, PoolWorker } from '@tranche/queue'
import { type Job, Worker as BullWorker } from 'bullmq'
import type { Redis } from 'ioredis'
import { type Bookkeeping, isReply } from './bookkeeping.ts'
import { type DelayedKeys, LONGEST_KEY, type RunEnd } from './delayed-keys.ts'
import type { KeyTraces } from './key-traces.ts'

/** Content of a job: the key, nothing else. */
export interface JobData {
  readonly key: string
}

/** Options of {@link startRedisWorker}. */
export interface RedisWorkerOptions {
  /** Name of the queue, which also prefixes its keys in Redis. */
  readonly name: string
  readonly prefix: string
  /** A connection used only by this worker; it ends with the worker. */
  readonly client: Redis
  /** Runs the handler, and tracks the runs in progress. */
  readonly member: PoolWorker<JobHandler>
  readonly concurrency: number
  readonly delayed: DelayedKeys
  readonly bookkeeping: Bookkeeping
  /** Resolves when the connection of `delayed` and `traces` is first ready. It may be later than that of the worker. */
  readonly connected: Promise<void>
  /** Undefined if runs receive no traces. */
  readonly traces: KeyTraces | undefined
  /** Enqueues a key, even after close. */
  readonly enqueue: (key: string) => Promise<void>
  /** Explains an error without secrets: ioredis includes the command with its arguments. */
  readonly explain: (error: unknown) => Error
  readonly timing: WorkerTiming
  /** Called for every taken key with the time since it was enqueued, in milliseconds (≥ 0). */
  readonly onTaken: (waitedMs: number) => void
  readonly clock: Clock
  readonly log: Logger
}

/** Timeouts of a worker. Milliseconds. */
export interface WorkerTiming {
  /** How long a worker keeps a key without renewing its lock. */
  readonly lockMs: number
  /** Interval of looking for keys whose worker is gone. */
  readonly stalledCheckMs: number
  /** Maximum time that one command waits for a job. */
  readonly blockMs: number
}

/** Worker that takes jobs from Redis. */
export interface RedisWorker {
  /** Like `Worker.close` of the port. */
  close(deadlineMs: number): Promise<void>
  /** Resolves when its connections are closed: at the end of the last run, or soon after `close` if nothing runs. */
  readonly ended: Promise<void>
}

/** A stalled job has lost its worker, which says nothing about the job, so it is never given up. */
const MAX_STALLED_COUNT = Number.MAX_SAFE_INTEGER
/** Pause of a worker after Redis refused a command, which BullMQ would repeat at once; milliseconds. */
const COOL_MS = 1_000
/** Pause between attempts to record the end of a run while Redis is unavailable, in milliseconds. */
const NOTE_RETRY_MS = 500
/** How long BullMQ may take to end after the last run, in milliseconds. */
const END_MS = 500

/** Starts a worker. If Redis is unavailable, the worker begins when Redis answers. */
export function startRedisWorker(options: RedisWorkerOptions): RedisWorker {
  const { client, clock, timing } = options
  const state: WorkerState = { ...options, closing: new AbortController(), taken: new Map(), running: 0, onIdle: new Set() }
  const clients = withDuplicates(client)
  // BullMQ supports only one signal, and does not abort its own when a lock is lost.
  const worker = new EndableWorker(options.name, (job) => work(state, job), {
    connection: client,
    prefix: options.prefix,
    skipVersionCheck: true,
    concurrency: options.concurrency,
    lockDuration: timing.lockMs,
    lockRenewTime: timing.lockMs / 3,
    stalledInterval: timing.stalledCheckMs,
    maxStalledCount: MAX_STALLED_COUNT,
    drainDelay: timing.blockMs / 1000,
    runRetryDelay: COOL_MS,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  })
  worker.on('lockRenewalFailed', (jobIds) => {
    for (const jobId of jobIds) loseLock(state, jobId)
  })
  const cooling = coolAfterErrors(worker, state)

  const end = Promise.withResolvers<void>()
  const endConnections = async (): Promise<void> => {
    cooling.stop()
    // A worker without Redis never reports that it has ended.
    await Promise.race([worker.close().catch(() => {}), sleep(clock, END_MS)])
    await worker.stopRenewing()
    for (const one of clients) one.disconnect()
    end.resolve()
  }
  return {
    ended: end.promise,
    async close(deadlineMs) {
      state.closing.abort(new Error('the worker closes'))
      worker.close().catch(() => {})
      await options.member.close(deadlineMs)
      if (state.running === 0) return endConnections()
      state.onIdle.add(() => void endConnections())
    },
  }
}

/** Renews its locks until it has ended. Without Redis it never ends by itself; after a stop it lets the process end. */
class EndableWorker extends BullWorker<JobData> {
  stopRenewing(): Promise<void> {
    return this.lockManager.close()
  }
}

interface WorkerState extends RedisWorkerOptions {
  readonly closing: AbortController
  /** By job id. */
  readonly taken: Map<string, Taken>
  /** Number of running handlers. */
  running: number
  readonly onIdle: Set<() => void>
}

/** Key that a handler works on. */
interface Taken {
  readonly key: string
  readonly lost: AbortController
}

async function work(state: WorkerState, job: Job<JobData>): Promise<void> {
  const key = keyOf(job)
  // The job's data is gone, together with its worker or with Redis' memory; its key has been enqueued since, or will be.
  if (key === undefined) return
  await state.connected
  // Taken during close: returned.
  if (state.closing.signal.aborted) return state.enqueue(key)
  const waitedMs = Math.max(0, state.clock.nowMs() - job.timestamp)
  state.onTaken(waitedMs)
  const taken: Taken = { key, lost: new AbortController() }
  state.taken.set(String(job.id), taken)
  // This run covers enqueues up to here; later ones cause another run.
  const [, trace] = await Promise.all([state.delayed.forget(key).catch(() => {}), state.traces?.take(key)])
  const ended = await run(state, taken, { trace, waitedMs })
  state.taken.delete(String(job.id))
  await noteEnd(state, key, ended)
}

/** Validates the job's data, because another writer may have put anything into Redis. */
function keyOf({ data }: Job<unknown>): string | undefined {
  const key = typeof data === 'object' && data !== null && 'key' in data ? data.key : undefined
  return typeof key === 'string' && key.length <= LONGEST_KEY ? key : undefined
}

/** Result of a run; `error` is for the log. */
interface Ended {
  readonly end: RunEnd
  readonly error?: unknown
}

async function run(state: WorkerState, { key, lost }: Taken, note: JobNote): Promise<Ended> {
  state.running++
  try {
    return await state.member.run(async (handler, closing): Promise<Ended> => {
      const signal = AbortSignal.any([closing, lost.signal])
      try {
        const outcome = await handler(key, signal, note)
        if (outcome.kind === 'recheckAfter' && outcome.trace !== undefined) await state.traces?.noteIfNone(key, outcome.trace)
        return { end: outcome.kind === 'awaitChange' ? { kind: 'done' } : outcome }
      } catch (error) {
        return signal.aborted ? { end: { kind: 'failed' } } : { end: { kind: 'failed' }, error }
      }
    })
  } finally {
    if (--state.running === 0) for (const onIdle of state.onIdle) onIdle()
  }
}

/**
 * Records the end of a run. Retries while Redis is unavailable: the key stays locked, and no other process could take it anyway. Where Redis
 * refuses, broken bookkeeping is repaired, because the key would otherwise occupy the worker for ever.
 */
async function noteEnd(state: WorkerState, key: string, { end, error }: Ended): Promise<void> {
  for (let isReported = false; ; )
    try {
      const { failures, againMs } = await state.delayed.noteEnd(key, end)
      if (error !== undefined) state.log.warn({ key, attempt: failures, recheckAfterMs: againMs, err: error }, 'job failed')
      return
    } catch (unreachable) {
      if (state.closing.signal.aborted) return
      const refused = isReply(unreachable)
      state.log[refused && !isReported ? 'warn' : 'debug']({ key, err: state.explain(unreachable) }, 'could not record the end of a job')
      isReported ||= refused
      await state.bookkeeping.repairAfter(unreachable)
      await sleep(state.clock, NOTE_RETRY_MS, state.closing.signal).catch(() => {})
    }
}

function loseLock({ taken, log }: WorkerState, jobId: string): void {
  const one = taken.get(jobId)
  if (one === undefined || one.lost.signal.aborted) return
  log.warn({ key: one.key }, 'lost the lock of a job; another worker may run it')
  one.lost.abort(new Error('the queue gave the key to another worker'))
}

/**
 * Pauses the worker after each refused command (a replica, no memory, no permission), which BullMQ would otherwise repeat at once and
 * forever. Connection errors need no pause: {@link watchOutages} logs them, and the connection waits by itself.
 */
function coolAfterErrors(worker: BullWorker<JobData>, { bookkeeping, clock, closing, explain, log }: WorkerState): { stop(): void } {
  let cooling: Timer | null = null
  worker.on('error', (error) => {
    log.debug({ err: explain(error) }, 'the worker had an error')
    void bookkeeping.repairAfter(error)
    if (!isReply(error) || cooling !== null || closing.signal.aborted) return
    void worker.pause(true)
    cooling = clock.setTimer(COOL_MS, () => {
      cooling = null
      if (!closing.signal.aborted) void worker.resume()
    })
  })
  return { stop: () => cooling?.cancel() }
}

/** @returns a live list of `client` and all its duplicates: BullMQ creates one to block on and does not expose it */
function withDuplicates(client: Redis): readonly Redis[] {
  const clients = [client]
  const duplicate = client.duplicate.bind(client)
  client.duplicate = (override) => {
    const copy = duplicate(override)
    copy.on('error', () => {})
    clients.push(copy)
    return copy
  }
  return clients
}
