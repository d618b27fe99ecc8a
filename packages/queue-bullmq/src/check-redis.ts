import { AppError } from '@tranche/errors'
import type { Logger } from '@tranche/log'
import type { Redis } from 'ioredis'
import { explainRedisError } from './explain-error.ts'
import { createProbeClient } from './redis-client.ts'
import { addressText, type RedisSettings } from './redis-settings.ts'

/** The oldest Redis that the queue's commands work on. */
const OLDEST = { major: 6, minor: 2 }

/**
 * Looks at Redis once, before anything runs.
 *
 * @throws {AppError} REDIS_UNREACHABLE, REDIS_REFUSED, REDIS_TLS, REDIS_UNSUITABLE
 */
export async function checkRedis(settings: RedisSettings): Promise<void> {
  const client = createProbeClient(settings)
  let lastError: unknown
  client.on('error', (error: unknown) => (lastError = error))
  try {
    await client.connect()
    const problem = faultOf(await readFacts(client), settings)
    if (problem !== null) throw problem
  } catch (error) {
    throw error instanceof AppError ? error : explainRedisError(lastError ?? error, settings)
  } finally {
    client.disconnect()
  }
}

/** Looks at the server behind a connection that was just made; what is wrong with it goes to the log. Never rejects. */
export async function checkServer(client: Redis, settings: RedisSettings, log: Logger): Promise<void> {
  const redis = addressText(settings)
  try {
    const facts = await readFacts(client)
    const fault = faultOf(facts, settings)
    if (fault !== null) log.error({ redis, code: fault.code, hint: fault.hint }, fault.message)
    if (facts.evictionPolicy !== undefined && facts.evictionPolicy !== 'noeviction')
      log.warn(
        { redis, maxmemoryPolicy: facts.evictionPolicy, hint: 'Set maxmemory-policy to noeviction.' },
        'Redis may throw jobs away when its memory is full; each is found again by the next sweep',
      )
  } catch (error) {
    log.debug({ redis, err: error }, 'could not look at the server')
  }
}

/** What a server says of itself; undefined where it does not. */
interface ServerFacts {
  readonly version: string | undefined
  readonly role: string | undefined
  readonly evictionPolicy: string | undefined
}

async function readFacts(client: Redis): Promise<ServerFacts> {
  const info = await client.info()
  const field = (name: string): string | undefined => new RegExp(`^${name}:([^\\r\\n]*)`, 'm').exec(info)?.[1]
  return { version: field('redis_version'), role: field('role'), evictionPolicy: field('maxmemory_policy') }
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
