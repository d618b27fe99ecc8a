import { type Clock, sleep, type Timer } from '@tranche/clock'
import type { Logger } from '@tranche/log'
import type { JobHandler, JobNote, PoolWorker } from '@tranche/queue'
import { type Job, Worker as BullWorker } from 'bullmq'
import type { Redis } from 'ioredis'
import type { DelayedKeys, RunEnd } from './delayed-keys.ts'
import type { KeyTraces } from './key-traces.ts'

/** What stands in a job: where to look, nothing else. */
export interface JobData {
  readonly key: string
}

/** What one worker is given. */
export interface RedisWorkerOptions {
  /** Name of the queue, and what its keys in Redis begin with. */
  readonly name: string
  readonly prefix: string
  /** A connection of this worker's own; it ends with the worker. */
  readonly client: Redis
  /** Runs the handler, and knows what still runs. */
  readonly member: PoolWorker<JobHandler>
  readonly concurrency: number
  readonly delayed: DelayedKeys
  /** Undefined where runs are told of no traces. */
  readonly traces: KeyTraces | undefined
  /** Announces a key, closed or not. */
  readonly enqueue: (key: string) => Promise<void>
  /** Says what an error means, without what must not be logged: ioredis puts the command with its arguments into it. */
  readonly explain: (error: unknown) => Error
  readonly timing: WorkerTiming
  /** Told of every key that is taken: how long it had been announced, in milliseconds (≥ 0). */
  readonly onTaken: (waitedMs: number) => void
  readonly clock: Clock
  readonly log: Logger
}

/** Milliseconds. */
export interface WorkerTiming {
  /** How long a worker holds a key without a sign of life. */
  readonly lockMs: number
  /** How often keys are looked for whose worker is gone. */
  readonly stalledCheckMs: number
  /** Longest wait for a job in one command. */
  readonly blockMs: number
}

/** A worker that takes jobs from Redis. */
export interface RedisWorker {
  /** As `Worker.close` of the port. */
  close(deadlineMs: number): Promise<void>
  /** Resolves when its connections are closed: at the end of the last run, or soon after `close` without one. */
  readonly ended: Promise<void>
}

/** A job that stalls has lost its worker, which says nothing of the job: it is never given up. */
const MAX_STALLED_COUNT = Number.MAX_SAFE_INTEGER
/** Pause of a worker after Redis refused a command, which BullMQ would repeat at once; milliseconds. */
const COOL_MS = 1_000
/** Pause between attempts to note the end of a run while Redis is away, in milliseconds. */
const NOTE_RETRY_MS = 500
/** How long BullMQ may take to end once nothing runs any more, in milliseconds. */
const END_MS = 500

/** Starts a worker. Redis may be away: it begins when Redis answers. */
export function startRedisWorker(options: RedisWorkerOptions): RedisWorker {
  const { client, clock, timing } = options
  const state: WorkerState = { ...options, closing: new AbortController(), taken: new Map(), running: 0, onIdle: new Set() }
  const clients = withDuplicates(client)
  // BullMQ cannot be told of more than one signal, and does not abort its own when a lock is lost.
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
    // A worker whose Redis is away never says that it has ended.
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

/** Renews its locks until it has ended, which it never does without Redis: told to stop, it lets the process end. */
class EndableWorker extends BullWorker<JobData> {
  stopRenewing(): Promise<void> {
    return this.lockManager.close()
  }
}

interface WorkerState extends RedisWorkerOptions {
  readonly closing: AbortController
  /** By id of the job. */
  readonly taken: Map<string, Taken>
  /** Handlers that run. */
  running: number
  readonly onIdle: Set<() => void>
}

/** A key that a handler works on. */
interface Taken {
  readonly key: string
  readonly lost: AbortController
}

async function work(state: WorkerState, job: Job<JobData>): Promise<void> {
  const key = keyOf(job)
  // What stood in the job is gone, with it the worker that held it or Redis' memory; its key has been announced since, or will be.
  if (key === undefined) return
  // Taken while we closed: given back.
  if (state.closing.signal.aborted) return state.enqueue(key)
  const waitedMs = Math.max(0, state.clock.nowMs() - job.timestamp)
  state.onTaken(waitedMs)
  const taken: Taken = { key, lost: new AbortController() }
  state.taken.set(String(job.id), taken)
  // Announcements up to here are what this run is for; those that come later make another.
  const [, trace] = await Promise.all([state.delayed.forget(key).catch(() => {}), state.traces?.take(key)])
  const ended = await run(state, taken, { trace, waitedMs })
  state.taken.delete(String(job.id))
  await noteEnd(state, key, ended)
}

/** Longest key, in characters: a namespace and a name, which DNS bounds. */
const LONGEST_KEY = 512

/** What is in Redis is not believed: another writer may have put anything there. */
function keyOf({ data }: Job<unknown>): string | undefined {
  const key = typeof data === 'object' && data !== null && 'key' in data ? data.key : undefined
  return typeof key === 'string' && key.length <= LONGEST_KEY ? key : undefined
}

/** How a run ended; `error` is for the log. */
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

/** Notes the end of a run. While Redis is away it goes on trying: the key stays ours, and nobody could take it anyway. */
async function noteEnd(state: WorkerState, key: string, { end, error }: Ended): Promise<void> {
  for (;;)
    try {
      const { failures, againMs } = await state.delayed.noteEnd(key, end)
      if (error !== undefined) state.log.warn({ key, attempt: failures, recheckAfterMs: againMs, err: error }, 'job failed')
      return
    } catch (unreachable) {
      if (state.closing.signal.aborted) return
      state.log.debug({ key, err: state.explain(unreachable) }, 'could not note the end of a job')
      await sleep(state.clock, NOTE_RETRY_MS, state.closing.signal).catch(() => {})
    }
}

function loseLock({ taken, log }: WorkerState, jobId: string): void {
  const one = taken.get(jobId)
  if (one === undefined || one.lost.signal.aborted) return
  log.warn({ key: one.key }, 'lost its lock on a job: another worker may have it')
  one.lost.abort(new Error('the queue gave the key to another worker'))
}

/**
 * BullMQ repeats a command that Redis refused (a replica, no memory, no permission) at once and for ever: the worker rests
 * after each. Connection errors need nothing: they are told by {@link watchOutages}, and the connection waits by itself.
 */
function coolAfterErrors(worker: BullWorker<JobData>, { clock, closing, explain, log }: WorkerState): { stop(): void } {
  let cooling: Timer | null = null
  worker.on('error', (error) => {
    log.debug({ err: explain(error) }, 'the worker had an error')
    if (error.name !== 'ReplyError' || cooling !== null || closing.signal.aborted) return
    void worker.pause(true)
    cooling = clock.setTimer(COOL_MS, () => {
      cooling = null
      if (!closing.signal.aborted) void worker.resume()
    })
  })
  return { stop: () => cooling?.cancel() }
}

/** @returns a live list of `client` and every copy that is made of it: BullMQ makes one to wait on and keeps it to itself */
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
