import type { Logger } from '@tranche/telemetry'
import type { Redis } from 'ioredis'

/** Options of {@link createBookkeeping}. */
export interface BookkeepingOptions {
  readonly client: Redis
  /** Returns the full name of a key of the queue. */
  readonly toKey: (type: string) => string
  readonly log: Logger
}

/** Keys of the queue that another writer of Redis, or a restored copy, may have replaced by values of another type. */
export interface Bookkeeping {
  /**
   * Deletes what has another type than the queue gives it, because every command on it fails until then; the sweep of each executor enqueues
   * the lost keys again. Does nothing after other errors than those that Redis replied. Never rejects.
   *
   * @param error why a command failed
   */
  repairAfter(error: unknown): Promise<void>
}

/** Type by item. An `integer` is a string that contains one. */
const TYPES: Readonly<Record<string, string>> = {
  wait: 'list',
  active: 'list',
  paused: 'list',
  stalled: 'set',
  delayed: 'zset',
  prioritized: 'zset',
  completed: 'zset',
  failed: 'zset',
  marker: 'zset',
  meta: 'hash',
  events: 'stream',
  id: 'integer',
  pc: 'integer',
  limiter: 'integer',
  'stalled-check': 'string',
  due: 'zset',
  failures: 'hash',
}

/** Defines the Lua script on `client`. */
export function createBookkeeping({ client, toKey, log }: BookkeepingOptions): Bookkeeping {
  const names = Object.keys(TYPES).map(toKey)
  client.defineCommand('trancheRepair', { numberOfKeys: names.length, lua: repairScript })
  const { trancheRepair } = client as unknown as Script
  return {
    async repairAfter(error) {
      if (!isReply(error)) return
      const dropped = await trancheRepair.call(client, ...names, ...Object.values(TYPES)).catch(() => [])
      if (dropped.length > 0) log.warn({ keys: dropped }, 'deleted keys of the wrong type from Redis; another client wrote them')
    },
  }
}

/** Whether Redis answered a command, or a script, with an error. */
export function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError'
}

interface Script {
  trancheRepair(...keysAndTypes: readonly string[]): Promise<readonly string[]>
}

const repairScript = `local dropped = {}
for i, key in ipairs(KEYS) do
  local is = redis.call('TYPE', key).ok
  if is == 'string' and ARGV[i] == 'integer' and string.find(redis.call('GET', key), '^%d+$') then is = 'integer' end
  if is ~= 'none' and is ~= ARGV[i] then
    redis.call('DEL', key)
    dropped[#dropped + 1] = key
  end
end
return dropped`
