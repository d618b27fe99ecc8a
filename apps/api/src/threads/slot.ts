import { AppError } from '@tranche/errors'
import { abortable } from '@tranche/kube-client'
import { createQuota } from '@tranche/connections'

/** Names of the work, for messages. */
export interface SlotNames {
  /** `a forecast` */
  readonly one: string
  /** `forecasts` */
  readonly many: string
}

/** A client that waits for the slot. */
export interface SlotClient {
  /** User name; each user may wait or run once. */
  readonly by: string
  /** Ends the wait, and the work if it observes the signal. */
  readonly signal: AbortSignal
}

/**
 * Runs `work` when all earlier work has ended.
 *
 * @throws {AppError} NOT_READY if too many wait; RATE_LIMITED if the user already waits or runs; the signal's reason; errors of `work`
 */
export type RunInSlot = <T>(taker: SlotClient, work: () => Promise<T>) => Promise<T>

/** Maximum number of waiting clients; further ones are refused. */
const WAITING_MAX = 4

/** Runs one piece of work at a time; a few clients wait, at most one per user. */
export function createSlot(names: SlotNames): RunInSlot {
  const quota = createQuota(1)
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0

  return async ({ by, signal }, work) => {
    if (waiting > WAITING_MAX)
      throw new AppError('NOT_READY', `${waiting} ${names.many} are already running or waiting`, { hint: 'Try again in a moment.' })
    const leave = quota.take(by)
    if (leave === null)
      throw new AppError('RATE_LIMITED', `${names.one} for user ${JSON.stringify(by)} is already running or waiting`, {
        hint: 'Try again when it has finished.',
      })
    waiting++
    const next = last.then(() => {
      signal.throwIfAborted()
      return work()
    })
    last = next.catch(() => {})
    // A client that disconnects while it waits frees its place at once.
    return abortable(next, signal).finally(() => {
      waiting--
      leave()
    })
  }
}
