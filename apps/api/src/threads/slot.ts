import { AppError } from '@tranche/errors'
import { abortable } from '@tranche/kube-client'
import { createQuota, createSemaphore } from '@tranche/connections'
import { accountNamespaceOf } from '../limits/client-group.ts'

/** Names of the work, for messages. */
export interface SlotNames {
  /** `a forecast` */
  readonly one: string
  /** `forecasts` */
  readonly many: string
}

/** A client that waits for the slot. */
export interface SlotClient {
  /** User name; each user may wait or run once, and the service accounts of a namespace twice together. */
  readonly by: string
  /** Ends the wait, and the work if it observes the signal. */
  readonly signal: AbortSignal
}

/**
 * Runs `work` when all earlier work has ended.
 *
 * @throws {AppError} NOT_READY if too many wait; RATE_LIMITED if the user, or its namespace, already waits or runs; the signal's reason;
 *   errors of `work`
 */
export type RunInSlot = <T>(taker: SlotClient, work: () => Promise<T>) => Promise<T>

/** Maximum number of clients that wait or run; further ones are refused. */
const CLIENTS_MAX = 5
/** The same for the service accounts of one namespace: a user who may create them has any number of names. */
const ACCOUNTS_MAX = 2

/** Runs one piece of work at a time; a few clients wait, at most one per user, and two per namespace of service accounts. */
export function createSlot(names: SlotNames): RunInSlot {
  const clients = createQuota(CLIENTS_MAX)
  const clientsOfUser = createQuota(1)
  const accountsOfNamespace = createQuota(ACCOUNTS_MAX)
  const semaphore = createSemaphore(1)

  return async ({ by, signal }, work) => {
    const leave = clients.take('')
    if (leave === null)
      throw new AppError('NOT_READY', `${CLIENTS_MAX} ${names.many} are already running or waiting`, { hint: 'Try again in a moment.' })
    const leaveUser = clientsOfUser.take(by)
    if (leaveUser === null) {
      leave()
      throw new AppError('RATE_LIMITED', `${names.one} for user ${JSON.stringify(by)} is already running or waiting`, {
        hint: 'Try again when it has finished.',
      })
    }
    const namespace = accountNamespaceOf(by)
    const leaveNamespace = namespace === null ? () => {} : accountsOfNamespace.take(namespace)
    if (leaveNamespace === null) {
      leaveUser()
      leave()
      throw new AppError(
        'RATE_LIMITED',
        `${ACCOUNTS_MAX} ${names.many} for service accounts of namespace ${JSON.stringify(namespace)} are already running or waiting`,
        {
          hint: 'Try again when one has finished.',
        },
      )
    }
    // A client that disconnects frees its place at once; its slot is free when the work has ended.
    return abortable(semaphore.run(signal, by, work), signal).finally(() => {
      leaveNamespace()
      leaveUser()
      leave()
    })
  }
}
