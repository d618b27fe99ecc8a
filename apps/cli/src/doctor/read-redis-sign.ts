import { isAppError } from '@tranche/errors'
import { checkRedis, type RedisAdvice, type RedisSettings } from '@tranche/queue-bullmq'
import { readRedisSettings } from '../redis-options.ts'
import type { ClusterSigns, RedisFault, RedisSign } from './cluster-signs.ts'
import type { RedisOfPod } from './installed-signs.ts'

/** Sources of the Redis address. */
export interface RedisQuestion {
  /** Settings from the options; null if none are given. */
  readonly named: RedisSettings | null
  readonly installed: ClusterSigns['installed']
  readonly signal: AbortSignal
}

/** Checks the Redis of the options, else that of the pods if it is reachable from here. Reads no Secret. */
export async function readRedisSign({ named, installed, signal }: RedisQuestion): Promise<RedisSign> {
  if (named !== null) return { kind: 'asked', of: '', ...(await lookAt(named, signal)) }
  if (installed === 'forbidden' || installed.length === 0) return { kind: 'unknown' }
  const all = new Map(installed.flatMap(({ redis }) => (redis === null ? [] : [[nameOf(redis), redis] as const])))
  const [[name, redis] = ['', undefined], another] = [...all]
  if (another !== undefined) return { kind: 'several', names: [...all.keys()] }
  if (redis === undefined) return { kind: 'none' }
  if (redis.kind === 'secret') return { kind: 'hidden', name, why: 'doctor reads no Secrets' }
  return lookFromHere(name, redis, signal)
}

/** Errors are reported as `hidden`: a Redis inside the cluster is often unreachable from outside. */
async function lookFromHere(name: string, redis: RedisOfPod & { readonly kind: 'url' }, signal: AbortSignal): Promise<RedisSign> {
  const hidden = (why: string): RedisSign => ({ kind: 'hidden', name, why })
  if (redis.hasPassword) return hidden('only the pods know the password')
  try {
    const settings = readRedisSettings(
      { url: undefined, passwordFile: undefined, ca: undefined, prefix: undefined },
      { TRANCHE_REDIS_URL: redis.url },
    )
    if (settings === null) return hidden('its address is empty')
    const advice = await checkRedis({ redis: settings, signal })
    return { kind: 'asked', of: `${withoutUser(redis.url)} of the pods `, problem: null, advice: toAdvice(advice) }
  } catch (error) {
    if (!isAppError(error)) throw error
    return hidden(`from here, ${error.message}`)
  }
}

interface Looked {
  readonly problem: RedisFault | null
  readonly advice: RedisFault | null
}

async function lookAt(redis: RedisSettings, signal: AbortSignal): Promise<Looked> {
  try {
    return { problem: null, advice: toAdvice(await checkRedis({ redis, signal })) }
  } catch (error) {
    if (!isAppError(error)) throw error
    return { problem: { message: error.message, fix: error.hint ?? 'Look at docs/operations/redis.md.' }, advice: null }
  }
}

function toAdvice(advice: RedisAdvice | null): RedisFault | null {
  return advice && { message: advice.message, fix: advice.hint }
}

/** Removes the part before an @, which may contain a password. */
function withoutUser(url: string): string {
  return url.replace(/\/\/.*@/, '//')
}

function nameOf(redis: RedisOfPod): string {
  return redis.kind === 'url' ? `Redis ${withoutUser(redis.url)}` : `the Redis of Secret ${redis.namespace}/${redis.name} (${redis.key})`
}
