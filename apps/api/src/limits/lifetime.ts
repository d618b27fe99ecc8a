import type { Clock } from '@tranche/clock'
import type { LRUCache } from 'lru-cache'

/** Options of an LRU cache that measures lifetimes by a clock. */
export type Lifetime = Pick<LRUCache.OptionsTTLLimit<string, object, unknown>, 'ttl' | 'ttlResolution' | 'perf'>

/** @param ttl lifetime in milliseconds. @returns options for a lifetime by the clock; the cache treats a start at 0 ms as missing */
export function lifetime(clock: Clock, ttl: number): Lifetime {
  return { ttl, ttlResolution: 0, perf: { now: () => clock.monotonicMs() + 1 } }
}
