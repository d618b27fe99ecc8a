import { isAppError } from '@tranche/errors'
import type { ClusterSigns, RedisFault, RedisSign } from './cluster-signs.ts'
import { isDenied } from './guarded-reads.ts'
import type { RedisOfPod } from './installed-signs.ts'
import type { PrepareRedisCheck, RedisCheck } from './redis-check.ts'

/** Sources of the Redis address. */
export interface RedisQuestion {
  /** Check of the Redis that the options name; null if they name none. */
  readonly named: RedisCheck | null
  /** Null: this program cannot connect to Redis. */
  readonly prepareRedisCheck: PrepareRedisCheck | null
  readonly installed: ClusterSigns['installed']
  readonly signal: AbortSignal
}

/** Checks the Redis of the options, else that of the pods if it is reachable from here. Reads no Secret. */
export async function readRedisSign({ named, prepareRedisCheck, installed, signal }: RedisQuestion): Promise<ClusterSigns['redis']> {
  if (named !== null) return { kind: 'asked', of: '', ...(await lookAt(named, signal)) }
  if (isDenied(installed)) return installed
  if (installed.length === 0) return { kind: 'unknown' }
  const all = new Map(installed.flatMap(({ redis }) => (redis === null ? [] : [[nameOf(redis), redis] as const])))
  const [[name, redis] = ['', undefined], another] = [...all]
  if (another !== undefined) return { kind: 'several', names: [...all.keys()] }
  if (redis === undefined) return { kind: 'none' }
  if (redis.kind === 'secret') return { kind: 'hidden', name, why: 'doctor reads no Secrets' }
  return lookFromHere({ ...redis, name }, { prepareRedisCheck, signal })
}

/** Errors are reported as `hidden`: a Redis inside the cluster is often unreachable from outside. */
async function lookFromHere(
  { name, ...redis }: RedisOfPod & { readonly kind: 'url'; readonly name: string },
  { prepareRedisCheck, signal }: Pick<RedisQuestion, 'prepareRedisCheck' | 'signal'>,
): Promise<RedisSign> {
  const hidden = (why: string): RedisSign => ({ kind: 'hidden', name, why })
  if (prepareRedisCheck === null) return hidden('only controllers and executors connect to it')
  if (redis.hasPassword) return hidden('only the pods know the password')
  try {
    const check = await prepareRedisCheck(
      { url: undefined, passwordFile: undefined, ca: undefined, prefix: undefined },
      { TRANCHE_REDIS_URL: redis.url },
    )
    if (check === null) return hidden('its address is empty')
    return { kind: 'asked', of: `${withoutUser(redis.url)} of the pods `, problem: null, advice: await check(signal) }
  } catch (error) {
    if (!isAppError(error)) throw error
    return hidden(`from here, ${error.message}`)
  }
}

interface Looked {
  readonly problem: RedisFault | null
  readonly advice: RedisFault | null
}

async function lookAt(check: RedisCheck, signal: AbortSignal): Promise<Looked> {
  try {
    return { problem: null, advice: await check(signal) }
  } catch (error) {
    if (!isAppError(error)) throw error
    return { problem: { message: error.message, fix: error.hint ?? 'Look at docs/operations/redis.md.' }, advice: null }
  }
}

/** Removes the part before an @, which may contain a password. */
function withoutUser(url: string): string {
  return url.replace(/\/\/.*@/, '//')
}

function nameOf(redis: RedisOfPod): string {
  return redis.kind === 'url' ? `Redis ${withoutUser(redis.url)}` : `the Redis of Secret ${redis.namespace}/${redis.name} (${redis.key})`
}
