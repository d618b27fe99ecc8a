import type { RedisFault } from './cluster-signs.ts'

/** Redis options of the command line, unparsed. */
export interface RedisOptions {
  readonly url: string | undefined
  readonly passwordFile: string | undefined
  readonly ca: string | undefined
  readonly prefix: string | undefined
}

/**
 * Checks one Redis once.
 *
 * @returns the setting to change; null if there is none
 * @throws {AppError} if executors could not use it
 */
export type RedisCheck = (signal: AbortSignal) => Promise<RedisFault | null>

/**
 * Prepares the check of the Redis that options and environment name. The launcher supplies it, since it needs the client of Redis.
 *
 * @returns null if they name none
 * @throws {AppError} OPTION_INVALID; its message never contains a password
 */
export type PrepareRedisCheck = (options: RedisOptions, env: Readonly<Record<string, string | undefined>>) => Promise<RedisCheck | null>
