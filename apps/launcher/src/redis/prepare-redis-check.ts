import type { CommandIo } from '@tranche/cli'
import type { RedisCheck, RedisOptions } from '@tranche/doctor'
import { readRedisSettings } from './redis-options.ts'

/**
 * Prepares the check of Redis for the doctor: with the rules and the client of the job queue.
 *
 * @returns null if options and environment name no Redis
 * @throws {AppError} OPTION_INVALID
 */
export async function prepareRedisCheck(options: RedisOptions, env: CommandIo['env']): Promise<RedisCheck | null> {
  const redis = readRedisSettings(options, env)
  if (redis === null) return null
  const { checkRedis } = await import('@tranche/queue-bullmq')
  return async (signal) => {
    const advice = await checkRedis({ redis, signal })
    return advice && { message: advice.message, fix: advice.hint }
  }
}
