import type { Clock, Timer } from '@tranche/clock'
import type { AppError } from '@tranche/errors'
import type { Logger } from '@tranche/log'
import type { Redis } from 'ioredis'
import { explainRedisError } from './explain-error.ts'
import { addressText, type RedisSettings } from './redis-settings.ts'

/** What {@link watchOutages} is given. */
export interface OutageOptions {
  readonly client: Redis
  readonly settings: RedisSettings
  readonly clock: Clock
  readonly log: Logger
  /** Looks whether the server that answers again can be worked with. @returns what is wrong with it; must not reject */
  readonly check: () => Promise<AppError | null>
  /** Called whenever Redis answers after it did not, and the first time. */
  readonly onBack: () => void
}

/** How soon a server that cannot be worked with is looked at again, in milliseconds. */
const CHECK_AGAIN_MS = 2_000

/**
 * Tells of each outage in two lines: when Redis goes away and why, and when it is back. A server that answers and cannot be
 * worked with is told of once, and no end of the outage, however often the connection to it is made anew.
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
      // It may be mended, as a replica by its promotion, without a new connection.
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
