import type { Clock, Timer } from '@tranche/clock'
import { isAppError } from '@tranche/errors'
import type { Logger } from '@tranche/log'
import { noTracer, type Tracer } from '@tranche/tracing'
import type { JobQueue } from './job-queue.ts'

/** Announces keys for programs that do not wait for it. */
export interface Announcer {
  /** Announces `key`; when the queue cannot be reached, again and again until it is. */
  announce(key: string): void
  /** Gives up what could not be announced yet. */
  stop(): void
}

/** What {@link createAnnouncer} is given. */
export interface AnnouncerOptions {
  readonly queue: JobQueue
  readonly clock: Clock
  readonly log: Logger
  /** Where announcements that follow from something are told. @default nowhere */
  readonly tracer?: Tracer | undefined
}

/** Pause between attempts, in milliseconds. */
const RETRY_MS = 1_000

/**
 * Keeps the keys that the queue could not take, each once, and announces them when it can. A queue tells of its own
 * outages; logged here is only what waiting does not mend, once until an announcement succeeds.
 */
export function createAnnouncer({ queue, clock, log, tracer = noTracer }: AnnouncerOptions): Announcer {
  /** Key → the latest attempt that failed. An earlier one that succeeds later may have told of less. */
  const missed = new Map<string, number>()
  let attempts = 0
  let retry: Timer | null = null
  let hasTold = false
  let stopped = false

  const send = (key: string): Promise<void> =>
    tracer.inside('announce', { kind: 'producer', attributes: { 'tranche.key': key } }, () => queue.announce(key, tracer.current()))
  const announce = async (key: string): Promise<void> => {
    const attempt = ++attempts
    try {
      await send(key)
      if ((missed.get(key) ?? 0) < attempt) missed.delete(key)
      hasTold = false
    } catch (error) {
      if (stopped) return
      missed.set(key, Math.max(attempt, missed.get(key) ?? 0))
      retry ??= clock.setTimer(RETRY_MS, announceMissed)
      if (hasTold || (isAppError(error) && error.remedy === 'retry')) return
      hasTold = true
      log.warn({ key, err: error }, 'could not announce; goes on trying')
    }
  }
  const announceMissed = (): void => {
    retry = null
    for (const key of missed.keys()) void announce(key)
  }
  return {
    announce: (key) => void announce(key),
    stop() {
      stopped = true
      missed.clear()
      retry?.cancel()
    },
  }
}
