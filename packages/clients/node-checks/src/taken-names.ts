import type { Clock } from '@tranche/clock'

/** Time after which a name that stays taken is reported, in milliseconds. */
const TAKEN_MS = 60_000

/** Time after which a name that is not asked for any more is forgotten, in milliseconds: longer than a blocked node waits to be asked again. */
const FORGOTTEN_MS = 600_000

/**
 * Names of objects to create that other objects have, and since when. Only words depend on it. It holds the names that were asked for in the last ten
 * minutes.
 */
export interface TakenNames {
  readonly size: number
  /** Records that the name is taken. @returns whether it has been so for a minute */
  isTakenForLong(name: string): boolean
  forget(name: string): void
}

/** Creates an empty memory of names. */
export function createTakenNames(clock: Clock): TakenNames {
  const taken = new Map<string, { readonly sinceMs: number; readonly askedMs: number }>()
  return {
    get size() {
      return taken.size
    },
    isTakenForLong(name) {
      const nowMs = clock.monotonicMs()
      const sinceMs = taken.get(name)?.sinceMs ?? nowMs
      // In the order of the last question: the name that was not asked for the longest is first.
      taken.delete(name)
      taken.set(name, { sinceMs, askedMs: nowMs })
      for (const [other, { askedMs }] of taken) {
        if (nowMs - askedMs < FORGOTTEN_MS) break
        taken.delete(other)
      }
      return nowMs - sinceMs >= TAKEN_MS
    },
    forget: (name) => void taken.delete(name),
  }
}
