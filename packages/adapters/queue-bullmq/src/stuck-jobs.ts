import type { Redis } from 'ioredis'

/**
 * Jobs of a key that will never run. BullMQ ignores an enqueue as long as a job of the same key exists. A Redis that lost one of its lists
 * (it evicts keys when memory is short) may hold such jobs in none of them.
 */
export interface StuckJobs {
  /**
   * Removes the job of a key if no worker can ever take it. Costs one lookup if there is no job.
   *
   * @param deduplicationId id that the key's jobs carry
   */
  remove(deduplicationId: string): Promise<void>
}

/**
 * Defines the Lua script on `client`.
 *
 * @param toKey returns the full name of a key of the queue
 */
export function createStuckJobs(client: Redis, toKey: (type: string) => string): StuckJobs {
  client.defineCommand('trancheRemoveStuck', { numberOfKeys: 5, lua: removeStuckScript })
  const { trancheRemoveStuck } = client as unknown as Script
  return {
    async remove(deduplicationId) {
      const lists = ['wait', 'active', 'paused'].map(toKey)
      const standing = [toKey(`de:${deduplicationId}`), toKey(`dn:${deduplicationId}`)]
      await trancheRemoveStuck.call(client, ...standing, ...lists, toKey(''), 'string', 'hash')
    },
  }
}

interface Script {
  trancheRemoveStuck(...keysAndPrefix: readonly string[]): Promise<unknown>
}

/** A mark of another type, which another writer left, would make every enqueue of its key fail. */
const removeStuckScript = `for mark = 1, 2 do
  local is = redis.call('TYPE', KEYS[mark]).ok
  if is ~= 'none' and is ~= ARGV[mark + 1] then redis.call('DEL', KEYS[mark]) end
end
local id = redis.call('GET', KEYS[1])
if not id then return end
for list = 3, 5 do
  if redis.call('LPOS', KEYS[list], id) then return end
end
redis.call('DEL', KEYS[1], KEYS[2], ARGV[1] .. id)`
