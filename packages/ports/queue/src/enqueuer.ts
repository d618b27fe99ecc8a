import type { Clock, Timer } from '@tranche/clock'
import { isAppError } from '@tranche/errors'
import { type Logger, noTracer, type Tracer } from '@tranche/telemetry'
import type { JobQueue } from './job-queue.ts'

/** Enqueues keys for programs that do not wait for it. */
export interface Enqueuer {
  /** Enqueues `key`; retries until the queue is reachable. */
  enqueue(key: string): void
  /** Why the queue has accepted nothing for {@link OUTAGE_MS}, in words without secrets; null while it accepts keys. */
  outage(): string | null
  /** Drops the keys that could not be enqueued yet. */
  stop(): void
}

/** Options of {@link createEnqueuer}. */
export interface EnqueuerOptions {
  readonly queue: JobQueue
  readonly clock: Clock
  readonly log: Logger
  /** Traces enqueues that follow from a span. @default no tracing */
  readonly tracer?: Tracer | undefined
  /** Called when {@link Enqueuer.outage} changes. Must not throw. @default nothing is called */
  readonly onOutage?: () => void
}

/** Pause between attempts, in milliseconds. */
const RETRY_MS = 1_000
/** How long a queue must refuse keys before that is an outage, in milliseconds: a restart or a fail-over is often shorter. */
const OUTAGE_MS = 10_000

/**
 * Keeps the keys that the queue could not accept, each once, and enqueues them when it can. The queue logs its own outages; only errors
 * that waiting does not fix are logged here, once until an enqueue succeeds.
 */
export function createEnqueuer({ queue, clock, log, tracer = noTracer, onOutage = () => {} }: EnqueuerOptions): Enqueuer {
  /** Maps each key to its latest failed attempt. An earlier attempt that succeeds later may have covered less. */
  const missed = new Map<string, number>()
  let attempts = 0
  let retry: Timer | null = null
  let hasLogged = false
  let stopped = false
  /** Set from the first failure after the last success. */
  let failing: { readonly sinceMs: number; readonly why: string } | null = null
  let isOutage = false

  const setOutage = (now: boolean): void => {
    if (isOutage === now) return
    isOutage = now
    onOutage()
  }
  const send = (key: string): Promise<void> =>
    tracer.inside('enqueue', { kind: 'producer', attributes: { 'tranche.key': key } }, () => queue.enqueue(key, tracer.current()))
  const enqueue = async (key: string): Promise<void> => {
    const attempt = ++attempts
    try {
      await send(key)
      if ((missed.get(key) ?? 0) < attempt) missed.delete(key)
      hasLogged = false
      failing = null
      setOutage(false)
    } catch (error) {
      if (stopped) return
      failing ??= { sinceMs: clock.monotonicMs(), why: isAppError(error) ? error.message : 'the queue refuses keys' }
      setOutage(clock.monotonicMs() - failing.sinceMs >= OUTAGE_MS)
      missed.set(key, Math.max(attempt, missed.get(key) ?? 0))
      retry ??= clock.setTimer(RETRY_MS, enqueueMissed)
      if (hasLogged || (isAppError(error) && error.remedy === 'retry')) return
      hasLogged = true
      log.warn({ key, err: error }, 'could not enqueue key; retrying')
    }
  }
  const enqueueMissed = (): void => {
    retry = null
    for (const key of missed.keys()) void enqueue(key)
  }
  return {
    enqueue: (key) => void enqueue(key),
    outage: () => (isOutage ? (failing?.why ?? null) : null),
    stop() {
      stopped = true
      missed.clear()
      retry?.cancel()
    },
  }
}
