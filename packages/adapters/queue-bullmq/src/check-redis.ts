import { AppError } from '@tranche/errors'
import type { Logger } from '@tranche/telemetry'
import type { Redis } from 'ioredis'
import { explainRedisError } from './explain-error.ts'
import { QUEUE_NAME } from './queue-name.ts'
import { createProbeClient } from './redis-client.ts'
import { addressText, type RedisSettings } from './redis-settings.ts'
import { speaksOtherwise } from './tls-mismatch.ts'

/** Oldest Redis version that supports the queue's commands. */
const OLDEST = { major: 6, minor: 2 }

/** Time limit of a Redis reply, in milliseconds. */
const DEADLINE_MS = 5_000

/** Options of {@link checkRedis}. */
export interface CheckRedisOptions {
  readonly redis: RedisSettings
  /** Key prefix of the queue. @default tranche */
  readonly prefix?: string
  /** Limit of the connection and of each reply, in milliseconds. @default 5_000 */
  readonly deadlineMs?: number
  /** Cancels the check; the rejection then says nothing about Redis. */
  readonly signal?: AbortSignal
}

/** Setting to change, although the queue works with it. */
export interface RedisAdvice {
  readonly message: string
  readonly hint: string
}

/**
 * Checks Redis once, before anything runs: login, writes, version, and access to the queue's keys.
 *
 * @returns the setting to change; null if there is none
 * @throws {AppError} REDIS_UNREACHABLE, REDIS_REFUSED, REDIS_TLS, REDIS_UNSUITABLE
 */
export async function checkRedis({
  redis,
  prefix = 'tranche',
  deadlineMs = DEADLINE_MS,
  signal,
}: CheckRedisOptions): Promise<RedisAdvice | null> {
  const client = createProbeClient(redis, deadlineMs)
  const onAbort = (): void => client.disconnect()
  signal?.addEventListener('abort', onAbort, { once: true })
  // The first error says most: the next one is only that the connection is closed.
  let firstError: unknown
  client.on('error', (error: unknown) => (firstError ??= error))
  try {
    await client.connect()
    const facts = await readFacts(client)
    const fault = faultOf(facts, redis)
    if (fault !== null) throw fault
    await client.eval("return redis.call('ZCARD', KEYS[1])", 1, `${prefix}:${QUEUE_NAME}:due`)
    return adviceOf(facts, redis)
  } catch (error) {
    if (error instanceof AppError) throw error
    const explained = explainRedisError(firstError ?? error, redis)
    throw explained.code === 'REDIS_UNREACHABLE' && signal?.aborted !== true
      ? ((await mismatchOf(redis, deadlineMs)) ?? explained)
      : explained
  } finally {
    signal?.removeEventListener('abort', onAbort)
    client.disconnect()
  }
}

async function mismatchOf(redis: RedisSettings, deadlineMs: number): Promise<AppError | null> {
  const { address, tls } = redis
  if (address.kind !== 'server' || !(await speaksOtherwise(address, tls !== null, deadlineMs))) return null
  const [says, scheme] = tls === null ? ['accepts only TLS on this port', 'rediss://'] : ['does not accept TLS on this port', 'redis://']
  return new AppError('REDIS_TLS', `Redis ${addressText(redis)} ${says}`, {
    details: { redis: addressText(redis) },
    hint: `Write ${scheme}, or use another port.`,
  })
}

/**
 * Checks the server behind a new connection, and logs an eviction policy that loses jobs. Never rejects.
 *
 * @returns why the queue cannot use it; null if it can, or the server does not say
 */
export async function checkServer(client: Redis, settings: RedisSettings, log: Logger): Promise<AppError | null> {
  const redis = addressText(settings)
  try {
    const facts = await readFacts(client)
    const advice = adviceOf(facts, settings)
    if (advice !== null)
      log.warn(
        { redis, maxmemoryPolicy: facts.evictionPolicy, hint: advice.hint },
        'Redis may evict jobs when its memory is full; the next sweep finds them again',
      )
    return faultOf(facts, settings)
  } catch (error) {
    log.debug({ redis, err: explainRedisError(error, settings) }, 'could not inspect the Redis server')
    return null
  }
}

/** What a server reports about itself; undefined if it does not. */
interface ServerFacts {
  readonly version: string | undefined
  readonly role: string | undefined
  readonly evictionPolicy: string | undefined
}

async function readFacts(client: Redis): Promise<ServerFacts> {
  const info = await client.info().catch((error: unknown) => {
    // A user may lack permission to ask; that alone is no reason to refuse.
    if (error instanceof Error && error.message.startsWith('NOPERM')) return ''
    throw error
  })
  const field = (name: string): string | undefined => new RegExp(`^${name}:([^\\r\\n]*)`, 'm').exec(info)?.[1]
  return { version: field('redis_version'), role: field('role'), evictionPolicy: field('maxmemory_policy') }
}

function adviceOf({ evictionPolicy }: ServerFacts, settings: RedisSettings): RedisAdvice | null {
  if (evictionPolicy === undefined || evictionPolicy === 'noeviction') return null
  return {
    message: `Redis ${addressText(settings)} may evict jobs when its memory is full (maxmemory-policy ${evictionPolicy}); the next sweep finds them again`,
    hint: 'Set maxmemory-policy to noeviction.',
  }
}

function faultOf({ version, role }: ServerFacts, settings: RedisSettings): AppError | null {
  const redis = addressText(settings)
  if (role === 'slave') return explainRedisError(new Error('READONLY'), settings)
  if (version === undefined || !isTooOld(version)) return null
  return new AppError('REDIS_UNSUITABLE', `Redis ${redis} is version ${version}, which is too old`, {
    details: { redis, version },
    hint: `Use Redis ${OLDEST.major}.${OLDEST.minor} or newer.`,
  })
}

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)
}
