/** Slots shared by callers, with a maximum per caller so that none takes them all. */
export interface Quota {
  /** Takes a slot. @returns a function that releases it, once; null if the caller has used up its quota */
  take(caller: string): (() => void) | null
}

/** @param each maximum number of slots per caller, ≥ 1 */
export function createQuota(each: number): Quota {
  const taken = new Map<string, number>()
  return {
    take(caller) {
      const had = taken.get(caller) ?? 0
      if (had >= each) return null
      taken.set(caller, had + 1)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        const left = (taken.get(caller) ?? 1) - 1
        if (left === 0) taken.delete(caller)
        else taken.set(caller, left)
      }
    },
  }
}
