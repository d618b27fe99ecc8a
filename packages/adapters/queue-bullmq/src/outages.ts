import type { Clock, Timer } from '@tranche/clock'
import type { AppError } from '@tranche/errors'
import type { Logger } from '@tranche/telemetry'
import type { Redis } from 'ioredis'
import { explainRedisError } from './explain-error.ts'
import { addressText, type RedisSettings } from './redis-settings.ts'

/** Options of {@link watchOutages}. */
export interface OutageOptions {
  readonly client: Redis
  readonly settings: RedisSettings
  readonly clock: Clock
  readonly log: Logger
  /** Checks whether a server that answers again is usable. @returns what is wrong with it; must not reject */
  readonly check: () => Promise<AppError | null>
  /** Called whenever Redis answers again, and the first time. */
  readonly onBack: () => void
}

/** Interval of rechecking an unusable server, in milliseconds. */
const CHECK_AGAIN_MS = 2_000

/**
 * Logs each outage in two lines: when Redis becomes unavailable and why, and when it is back. A server that answers but is unusable is
 * logged once, and does not end the outage, however often the connection is reopened.
 */
export function watchOutages({ client, settings, clock, log, check, onBack }: OutageOptions): void {
  const redis = addressText(settings)
  let awaySinceMs: number | null = null
  let reported: AppError['code'] | null = null
  let lastError: unknown = new Error('the connection was closed')
  let connections = 0
  let again: Timer | null = null

  async function judge(): Promise<void> {
    const connection = ++connections
    again?.cancel()
    const fault = await check()
    if (connection !== connections) return
    if (fault !== null) {
      awaySinceMs ??= clock.monotonicMs()
      if (reported !== fault.code) log.error({ redis, code: fault.code, hint: fault.hint, why: fault.message }, 'cannot use Redis')
      reported = fault.code
      // It may recover without a new connection, for example when a replica is promoted.
      again = clock.setTimer(CHECK_AGAIN_MS, () => void judge())
      return
    }
    if (client.status !== 'ready') return
    if (awaySinceMs !== null) log.info({ redis, awayMs: Math.round(clock.monotonicMs() - awaySinceMs) }, 'Redis is back')
    awaySinceMs = null
    reported = null
  }

  client.on('end', () => {
    connections++
    again?.cancel()
  })
  client.on('error', (error: unknown) => (lastError = error))
  client.on('close', () => {
    if (client.status === 'end' || awaySinceMs !== null) return
    awaySinceMs = clock.monotonicMs()
    const { code, message, hint } = explainRedisError(lastError, settings)
    log.warn({ redis, code, hint, why: message }, 'lost Redis; jobs wait until it is back')
  })
  client.on('ready', () => {
    lastError = new Error('the connection was closed')
    void judge()
    onBack()
  })
}
