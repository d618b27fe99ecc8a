import { askPatiently } from '@tranche/cli'
import type { Clock } from '@tranche/clock'
import { isAppError } from '@tranche/errors'
import type { Logger } from '@tranche/telemetry'
import { checkRedis, type RedisSettings } from '@tranche/queue-bullmq'
import type { ProgramHealth } from './program-health.ts'

/** Options of {@link followRedis}. */
export interface FollowRedisOptions {
  readonly redis: RedisSettings
  /** Key prefix of the queue. */
  readonly prefix: string | undefined
  readonly clock: Clock
  readonly log: Logger
  /** Stops the checks. */
  readonly signal: AbortSignal
}

/**
 * Checks Redis until the queue can use it for the first time; afterwards the queue monitors it. Logs each reason that a user must fix
 * once. The queue reports a Redis that does not answer.
 *
 * @returns the health: ready after the first success; until then, its state is the error code
 */
export function followRedis({ redis, prefix, clock, log, signal }: FollowRedisOptions): ProgramHealth {
  let isReady = false
  let says = 'starting'
  const failed = (error: unknown): void => {
    if (!isAppError(error) || error.code === says) return
    says = error.code
    if (error.remedy !== 'retry')
      log.error({ code: error.code, hint: error.hint, why: error.message }, 'cannot use Redis; not ready until that is fixed')
  }
  const ask = (): Promise<unknown> => checkRedis({ redis, signal, ...(prefix !== undefined && { prefix }) })
  askPatiently(ask, { clock, signal, mayPass: isAppError, failed }).then(
    () => (isReady = true),
    (error: unknown) => {
      if (!signal.aborted) log.error({ err: error }, 'could not check Redis')
    },
  )
  return { isReady: () => isReady, says: () => (isReady ? 'ready' : says) }
}
