import type { Clock, Timer } from '@tranche/clock'
import { isAppError } from '@tranche/errors'
import type { Logger } from '@tranche/log'
import { noTracer, type Tracer } from '@tranche/tracing'
import type { JobQueue } from './job-queue.ts'

/** Announces keys for programs that do not wait for it. */
export interface Enqueuer {
  /** Announces `key`; when the queue cannot be reached, again and again until it is. */
  enqueue(key: string): void
  /** Why the queue has taken nothing for {@link OUTAGE_MS}, in words without secrets; null while it takes what is announced. */
  outage(): string | null
  /** Gives up what could not be announced yet. */
  stop(): void
}

/** What {@link createEnqueuer} is given. */
export interface EnqueuerOptions {
  readonly queue: JobQueue
  readonly clock: Clock
  readonly log: Logger
  /** Where announcements that follow from something are told. @default nowhere */
  readonly tracer?: Tracer | undefined
  /** Called when {@link Announcer.outage} says something else than before. Must not throw. @default nothing is called */
  readonly onOutage?: () => void
}

/** Pause between attempts, in milliseconds. */
const RETRY_MS = 1_000
/** How long a queue takes nothing before that is an outage, in milliseconds: a restart or a fail-over is often shorter. */
const OUTAGE_MS = 10_000

/**
 * Keeps the keys that the queue could not take, each once, and announces them when it can. A queue tells of its own
 * outages; logged here is only what waiting does not mend, once until an announcement succeeds.
 */
export function createEnqueuer({ queue, clock, log, tracer = noTracer, onOutage = () => {} }: EnqueuerOptions): Enqueuer {
  /** Key → the latest attempt that failed. An earlier one that succeeds later may have told of less. */
  const missed = new Map<string, number>()
  let attempts = 0
  let retry: Timer | null = null
  let hasLogged = false
  let stopped = false
  /** Since the first failure after the last success. */
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
      failing ??= { sinceMs: clock.monotonicMs(), why: isAppError(error) ? error.message : 'it refuses what is announced' }
      setOutage(clock.monotonicMs() - failing.sinceMs >= OUTAGE_MS)
      missed.set(key, Math.max(attempt, missed.get(key) ?? 0))
      retry ??= clock.setTimer(RETRY_MS, enqueueMissed)
      if (hasLogged || (isAppError(error) && error.remedy === 'retry')) return
      hasLogged = true
      log.warn({ key, err: error }, 'could not announce; goes on trying')
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
