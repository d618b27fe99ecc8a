import type { ValidateAnswer } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import { runInThread, threadFile } from '../threads/run-in-thread.ts'
import { createSlot, type SlotClient } from '../threads/slot.ts'

/**
 * Checks manifests.
 *
 * @throws {AppError} NOT_READY where others wait already; RATE_LIMITED where the user waits for another; BODY_TOO_LARGE where they take
 * more memory than they may
 */
export type Validate = (manifests: string, taker: SlotClient) => Promise<ValidateAnswer>

/** What a thread may keep in memory: 1 MiB of Rollouts takes less than 96, as much of nothing but keys less than 128. */
const MEBIBYTES = 128

/** Checks manifests in a thread, one at a time and one for each user: 8 KiB can take 200 ms, in which the server would answer nobody. */
export function createValidator(): Validate {
  const runInSlot = createSlot({ one: 'a check of manifests', many: 'checks of manifests' })
  return async (manifests, taker) => {
    const { signal } = taker
    return runInSlot(taker, () => runInThread({ file, data: manifests, mebibytes: MEBIBYTES, signal, takesTooMuch }))
  }
}

const file = threadFile('validate-worker', import.meta.url)

function takesTooMuch(): AppError {
  return new AppError('BODY_TOO_LARGE', `the manifests take more than ${MEBIBYTES} MiB to be looked at`, {
    hint: 'Send fewer at a time, or run tranche lint.',
  })
}
