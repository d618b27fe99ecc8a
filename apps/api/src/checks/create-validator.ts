import type { ValidateAnswer } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import { runInThread, threadFile } from '../threads/run-in-thread.ts'
import { createSlot, type SlotClient } from '../threads/slot.ts'

/**
 * Checks manifests.
 *
 * @throws {AppError} NOT_READY if too many requests wait; RATE_LIMITED if another check of the same user waits; BODY_TOO_LARGE if the
 * manifests need more memory than the limit
 */
export type Validate = (manifests: string, taker: SlotClient) => Promise<ValidateAnswer>

/** Memory limit of the thread, in MiB: 1 MiB of Rollouts needs less than 96, and 1 MiB of keys alone less than 128. */
const MEBIBYTES = 128

/** Checks manifests in a thread, one at a time and one per user: 8 KiB can take 200 ms, which would block the event loop. */
export function createValidator(): Validate {
  const runInSlot = createSlot({ one: 'a check of manifests', many: 'checks of manifests' })
  return async (manifests, taker) => {
    const { signal } = taker
    return runInSlot(taker, () => runInThread({ file, data: manifests, mebibytes: MEBIBYTES, signal, takesTooMuch }))
  }
}

const file = threadFile('validate-worker', import.meta.url)

function takesTooMuch(): AppError {
  return new AppError('BODY_TOO_LARGE', `checking the manifests takes more than ${MEBIBYTES} MiB of memory`, {
    hint: 'Send fewer at a time, or run tranche lint.',
  })
}
