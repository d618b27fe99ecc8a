import type { Clock } from '@tranche/clock'
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
  /** Called whenever Redis answers after it did not, and the first time. */
  readonly onBack: () => void
}

/** Tells of each outage in two lines: when Redis goes away and why, and when it is back. */
export function watchOutages({ client, settings, clock, log, onBack }: OutageOptions): void {
  const redis = addressText(settings)
  let awaySinceMs: number | null = null
  let lastError: unknown = new Error('the connection was closed')
  client.on('error', (error: unknown) => (lastError = error))
  client.on('close', () => {
    if (client.status === 'end' || awaySinceMs !== null) return
    awaySinceMs = clock.monotonicMs()
    const { code, message, hint } = explainRedisError(lastError, settings)
    log.warn({ redis, code, hint }, `${message}; jobs wait until it is back`)
  })
  client.on('ready', () => {
    if (awaySinceMs !== null) log.info({ redis, awayMs: Math.round(clock.monotonicMs() - awaySinceMs) }, 'Redis is back')
    awaySinceMs = null
    lastError = new Error('the connection was closed')
    onBack()
  })
}
