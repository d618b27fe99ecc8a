import { AppError } from '@tranche/errors'
import { abortable } from '@tranche/kube-client'
import { createQuota } from '@tranche/connections'

/** What turns are for, as people call it. */
export interface SlotNames {
  /** `a forecast` */
  readonly one: string
  /** `forecasts` */
  readonly many: string
}

/** Somebody who wants a turn. */
export interface SlotClient {
  /** Name of the user: each has one place. */
  readonly by: string
  /** Ends the wait, and the work, if that heeds it. */
  readonly signal: AbortSignal
}

/**
 * Does `work` when those before have ended.
 *
 * @throws {AppError} NOT_READY where others wait already; RATE_LIMITED where the user has a place; the signal's reason; whatever `work` throws
 */
export type RunInSlot = <T>(taker: SlotClient, work: () => Promise<T>) => Promise<T>

/** So many wait while one has its turn; the next is turned away. */
const WAITING_MAX = 4

/** One turn at a time; a few wait, one of each user. */
export function createSlot(names: SlotNames): RunInSlot {
  const quota = createQuota(1)
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0

  return async ({ by, signal }, work) => {
    if (waiting > WAITING_MAX)
      throw new AppError('NOT_READY', `${waiting} ${names.many} are made or waited for already`, { hint: 'Try again in a moment.' })
    const leave = quota.take(by)
    if (leave === null)
      throw new AppError('RATE_LIMITED', `${names.one} for user ${JSON.stringify(by)} is made or waited for already`, {
        hint: 'Ask again when it is there.',
      })
    waiting++
    const next = last.then(() => {
      signal.throwIfAborted()
      return work()
    })
    last = next.catch(() => {})
    // Who goes away while others are served waits no longer, and makes room for the next.
    return abortable(next, signal).finally(() => {
      waiting--
      leave()
    })
  }
}
