import { isAppError } from '@tranche/errors'

/** Number of passes over an object in a row that must fail before its release is stopped. */
const STOP_AFTER = 3

/** Counts the passes whose planning failed in a row. */
export interface FailedPlans {
  /**
   * Runs the reading and planning of one pass. After several failures in a row it also runs `stop`, with every further failure. Errors of
   * the catalog, such as an API server that does not answer, do not count: they say what they wait for, and pass.
   *
   * @throws what `plan` throws
   */
  watch<T>(key: string, plan: () => Promise<T>, stop: () => Promise<void>): Promise<T>
  /** Forgets an object that is gone. */
  forget(key: string): void
}

/** @returns no failures so far */
export function createFailedPlans(): FailedPlans {
  const counts = new Map<string, number>()
  return {
    async watch(key, plan, stop) {
      try {
        const planned = await plan()
        counts.delete(key)
        return planned
      } catch (error) {
        if (isAppError(error)) throw error
        const count = (counts.get(key) ?? 0) + 1
        counts.set(key, count)
        if (count >= STOP_AFTER) await stop()
        throw error
      }
    },
    forget: (key) => void counts.delete(key),
  }
}
