import { AppError } from '@tranche/errors'
import type { Logger } from '@tranche/log'
import type { Redis } from 'ioredis'
import { explainRedisError } from './explain-error.ts'
import { QUEUE_NAME } from './queue-name.ts'
import { createProbeClient } from './redis-client.ts'
import { addressText, type RedisSettings } from './redis-settings.ts'
import { speaksOtherwise } from './tls-mismatch.ts'

/** The oldest Redis that the queue's commands work on. */
const OLDEST = { major: 6, minor: 2 }

/** How long Redis may take to answer, in milliseconds. */
const DEADLINE_MS = 5_000

/** What {@link checkRedis} is given. */
export interface CheckRedisOptions {
  readonly redis: RedisSettings
  /** As of the queue. @default tranche */
  readonly prefix?: string
  /** How long the connection, and each answer, may take, in milliseconds. @default 5_000 */
  readonly deadlineMs?: number
  /** Ends the look; what it rejects with then says nothing of Redis. */
  readonly signal?: AbortSignal
}

/** What should be set otherwise, though the queue works with it. */
export interface RedisAdvice {
  readonly message: string
  readonly hint: string
}

/**
 * Looks at Redis once, before anything runs: whether it lets us in, takes writes, is new enough, and lets us at our keys.
 *
 * @returns what should be set otherwise; null for nothing
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
  // The first says most: what follows it is that the connection is closed.
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
  const [says, scheme] = tls === null ? ['speaks only TLS on this port', 'rediss://'] : ['speaks no TLS on this port', 'redis://']
  return new AppError('REDIS_TLS', `Redis ${addressText(redis)} ${says}`, {
    details: { redis: addressText(redis) },
    hint: `Write ${scheme}, or name another port.`,
  })
}

/**
 * Looks at the server behind a connection that was just made; a policy that throws jobs away goes to the log. Never rejects.
 *
 * @returns why it cannot be worked with; null when it can, or does not say
 */
export async function checkServer(client: Redis, settings: RedisSettings, log: Logger): Promise<AppError | null> {
  const redis = addressText(settings)
  try {
    const facts = await readFacts(client)
    const advice = adviceOf(facts, settings)
    if (advice !== null)
      log.warn(
        { redis, maxmemoryPolicy: facts.evictionPolicy, hint: advice.hint },
        'Redis may throw jobs away when its memory is full; each is found again by the next sweep',
      )
    return faultOf(facts, settings)
  } catch (error) {
    log.debug({ redis, err: explainRedisError(error, settings) }, 'could not look at the server')
    return null
  }
}

/** What a server says of itself; undefined where it does not. */
interface ServerFacts {
  readonly version: string | undefined
  readonly role: string | undefined
  readonly evictionPolicy: string | undefined
}

async function readFacts(client: Redis): Promise<ServerFacts> {
  const info = await client.info().catch((error: unknown) => {
    // A user may be forbidden to ask; that alone is no reason to refuse.
    if (error instanceof Error && error.message.startsWith('NOPERM')) return ''
    throw error
  })
  const field = (name: string): string | undefined => new RegExp(`^${name}:([^\\r\\n]*)`, 'm').exec(info)?.[1]
  return { version: field('redis_version'), role: field('role'), evictionPolicy: field('maxmemory_policy') }
}

function adviceOf({ evictionPolicy }: ServerFacts, settings: RedisSettings): RedisAdvice | null {
  if (evictionPolicy === undefined || evictionPolicy === 'noeviction') return null
  return {
    message: `Redis ${addressText(settings)} may throw jobs away when its memory is full (maxmemory-policy ${evictionPolicy}); each is found again by the next sweep`,
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
