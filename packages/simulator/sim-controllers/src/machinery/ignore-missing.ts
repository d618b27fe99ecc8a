import { isStatus } from '@tranche/sim-api'

/** Waits for a write; ignores that its object is gone. */
export async function ignoreMissing(write: Promise<unknown>): Promise<void> {
  await write.catch((error: unknown) => {
    if (!isStatus(error, 404)) throw error
  })
}
