import { isStatus } from '@tranche/sim-api'

/** Waits for a write; that its object is gone is no error. */
export async function ignoreMissing(write: Promise<unknown>): Promise<void> {
  await write.catch((error: unknown) => {
    if (!isStatus(error, 404)) throw error
  })
}
