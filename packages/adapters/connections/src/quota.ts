/** Places that callers share: each has some of its own at the most, so that none takes all. */
export interface Quota {
  /** Takes a place. @returns gives it back, once; null where the caller has all of its share already */
  take(caller: string): (() => void) | null
}

/** @param each places that one caller may have at a time, from 1 */
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
