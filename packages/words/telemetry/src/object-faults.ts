import type { LogFields } from './logger.ts'

/** Logs what is wrong with objects of the cluster: one line per object and cause. */
export interface ObjectFaults {
  /** Logs the error, unless it is the last one of this object. */
  report(object: string, error: unknown): void
  /** Forgets the object: it is good again, or gone. */
  clear(object: string): void
  /**
   * Runs what reads or follows one object. An object that it cannot handle is left out, so that it never stops the others.
   *
   * @returns its result; undefined if it threw, which is logged
   */
  attempt<T>(object: string, act: () => T): T | undefined
}

/** Maximum number of objects whose last error is kept; the oldest is forgotten first, and may be logged again. */
const KEPT_MAX = 1_000

/**
 * Creates a log of faulty objects.
 *
 * @param write logs a line with these fields: the object and the error
 */
export function createObjectFaults(write: (fields: LogFields) => void): ObjectFaults {
  const last = new Map<string, string>()

  function report(object: string, error: unknown): void {
    const cause = String(error)
    if (last.get(object) === cause) return
    last.delete(object)
    for (const oldest of last.keys()) {
      if (last.size < KEPT_MAX) break
      last.delete(oldest)
    }
    last.set(object, cause)
    const fields: LogFields = { object, err: error }
    write(fields)
  }

  return {
    report,
    clear: (object) => void last.delete(object),
    attempt(object, act) {
      try {
        const result = act()
        last.delete(object)
        return result
      } catch (error) {
        report(object, error)
        return undefined
      }
    },
  }
}
