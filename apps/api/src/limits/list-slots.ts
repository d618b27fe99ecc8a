import { setImmediate as nextIteration } from 'node:timers/promises'
import { createQuota, createSemaphore } from '@tranche/connections'
import { AppError } from '@tranche/errors'
import type { ClientGroup } from './client-group.ts'

/** Maximum number of lists of one client that wait or run. */
const LISTS_OF_CLIENT = 10

/**
 * Makes a list when the lists before it have ended. Clients take turns.
 *
 * @throws {AppError} RATE_LIMITED if the client has too many lists waiting; the signal's reason; errors of `make`
 */
export type RunList = <T>(client: ClientGroup, signal: AbortSignal, make: () => Promise<T>) => Promise<T>

/**
 * Makes one list per iteration of the event loop, so that other requests are served between any two.
 *
 * @param what the lists in the plural, for messages
 */
export function createListSlots(what: string): RunList {
  const listsOfClient = createQuota(LISTS_OF_CLIENT)
  const semaphore = createSemaphore(1)

  return async ({ key, text }, signal, make) => {
    const leave = listsOfClient.take(key)
    if (leave === null)
      throw new AppError('RATE_LIMITED', `more than ${LISTS_OF_CLIENT} ${what} at a time from ${text}`, {
        hint: 'Wait, or read /api/v1/stream instead of polling.',
      })
    try {
      return await semaphore.run(signal, key, async () => {
        const made = await make()
        await nextIteration()
        return made
      })
    } finally {
      leave()
    }
  }
}
