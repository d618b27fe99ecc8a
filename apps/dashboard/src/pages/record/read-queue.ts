import type { ApiKey } from '@tranche/api-client'
import { textOfKey } from '../../live/release-store.ts'

/** Rollouts that wait to be read. Those that are read again come first, and stay when the rest changes. */
export interface ReadQueue {
  readonly length: number
  /** Takes the first one; undefined if none waits. */
  take(): ApiKey | undefined
  /** Replaces those that have not been read yet. */
  replace(keys: readonly ApiKey[]): void
  /** Adds Rollouts to be read again. */
  again(keys: readonly ApiKey[]): void
  clear(): void
}

/** Creates an empty queue. */
export function createReadQueue(): ReadQueue {
  /** By text, in the order of the queue. */
  const renewed = new Map<string, ApiKey>()
  const added = new Map<string, ApiKey>()
  return {
    get length() {
      return renewed.size + added.size
    },
    take: () => shift(renewed) ?? shift(added),
    replace(keys) {
      added.clear()
      for (const key of keys) if (!renewed.has(textOfKey(key))) added.set(textOfKey(key), key)
    },
    again(keys) {
      for (const key of keys) {
        renewed.set(textOfKey(key), key)
        added.delete(textOfKey(key))
      }
    },
    clear() {
      renewed.clear()
      added.clear()
    },
  }
}

/** Removes the first entry. */
function shift(queue: Map<string, ApiKey>): ApiKey | undefined {
  for (const [text, key] of queue) {
    queue.delete(text)
    return key
  }
  return undefined
}
