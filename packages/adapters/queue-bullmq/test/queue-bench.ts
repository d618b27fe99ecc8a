import { systemClock } from '@tranche/clock'
import { type LogFields, type Logger, silentLogger } from '@tranche/telemetry'
import type { JobHandler, JobQueue } from '@tranche/queue'
import { createBullmqQueue, type QueueTiming, type RedisSettings } from '@tranche/queue-bullmq'
import { onTestFinished } from 'vitest'

/** Some ten times sooner than in earnest, so that an outage of minutes takes seconds. */
export const quick: QueueTiming = {
  lockMs: 1_500,
  stalledCheckMs: 400,
  blockMs: 1_000,
  callMs: 1_000,
  silenceMs: 1_500,
  lookMs: 200,
}

/** A line that was logged. */
export interface Line {
  readonly level: 'info' | 'warn' | 'error'
  readonly fields: LogFields
  readonly message: string
}

/** Settings of {@link openQueue} besides Redis and prefix. */
export interface OpenOptions {
  readonly lines?: Line[]
  /** The default timing tolerates a busy machine. */
  readonly timing?: Partial<QueueTiming>
  readonly withTraces?: boolean
}

/** Opens a queue that closes with the test. */
export function openQueue(
  redis: RedisSettings,
  prefix: string,
  { lines = [], timing = {}, withTraces = false }: OpenOptions = {},
): JobQueue {
  const note =
    (level: Line['level']) =>
    (fields: LogFields, message: string): void =>
      void lines.push({ level, fields, message })
  const log: Logger = { ...silentLogger, info: note('info'), warn: note('warn'), error: note('error') }
  const queue = createBullmqQueue({ redis, clock: systemClock, log, prefix, timing: { lookMs: 200, ...timing }, withTraces })
  onTestFinished(() => queue.close(0))
  return queue
}

/** Keys in the order in which they were worked on, to be waited for. */
export interface Worked {
  readonly handler: JobHandler
  readonly keys: readonly string[]
  /** Resolves with the next key that is worked on. */
  next(): Promise<string>
}

/** @param handle what to do with a key besides noting it; by default nothing */
export function recordWork(handle: JobHandler = async () => ({ kind: 'awaitChange' })): Worked {
  const keys: string[] = []
  const waiting: ((key: string) => void)[] = []
  return {
    keys,
    handler: (key, signal) => {
      keys.push(key)
      waiting.shift()?.(key)
      return handle(key, signal)
    },
    next: () => new Promise((resolve) => waiting.push(resolve)),
  }
}
