import type { Redis } from 'ioredis'

/**
 * Jobs that stand for a key and will never run. BullMQ takes an announcement for a repetition as long as the job of its
 * key exists; a Redis that lost one of its lists (it throws keys away when memory is short) has such jobs in none of them.
 */
export interface StuckJobs {
  /**
   * Removes the job that stands for a key if no worker can ever come by it. Costs one look where no job stands.
   *
   * @param deduplicationId as the jobs of the key bear it
   */
  remove(deduplicationId: string): Promise<void>
}

/**
 * Defines our script on `client`.
 *
 * @param toKey gives the full name of a key of the queue
 */
export function createStuckJobs(client: Redis, toKey: (type: string) => string): StuckJobs {
  client.defineCommand('trancheRemoveStuck', { numberOfKeys: 5, lua: removeStuckScript })
  const { trancheRemoveStuck } = client as unknown as Script
  return {
    async remove(deduplicationId) {
      const lists = ['wait', 'active', 'paused'].map(toKey)
      const standing = [toKey(`de:${deduplicationId}`), toKey(`dn:${deduplicationId}`)]
      await trancheRemoveStuck.call(client, ...standing, ...lists, toKey(''))
    },
  }
}

interface Script {
  trancheRemoveStuck(...keysAndPrefix: readonly string[]): Promise<unknown>
}

const removeStuckScript = `local id = redis.call('GET', KEYS[1])
if not id then return end
for list = 3, 5 do
  if redis.call('LPOS', KEYS[list], id) then return end
end
redis.call('DEL', KEYS[1], KEYS[2], ARGV[1] .. id)`
