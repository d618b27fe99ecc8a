import type { Clock } from '@tranche/clock'
import { isAppError } from '@tranche/errors'
import type { Logger } from '@tranche/log'
import { checkRedis, type RedisSettings } from '@tranche/queue-bullmq'
import { askPatiently } from '../release-client/ask-patiently.ts'
import type { ProgramHealth } from './program-health.ts'

/** What {@link followRedis} is given. */
export interface FollowRedisOptions {
  readonly redis: RedisSettings
  /** As of the queue. */
  readonly prefix: string | undefined
  readonly clock: Clock
  readonly log: Logger
  /** Ends the looks. */
  readonly signal: AbortSignal
}

/**
 * Looks at Redis until it is one that the queue can work with, for the first time; what becomes of it later, the queue follows by itself.
 * Each reason that somebody must mend stands once in the log. A Redis that is merely silent is the queue's to tell.
 *
 * @returns ready since then; until then it says the code of what is wrong
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
