/** An amount that callers share, such as bytes or streams. */
export interface SharedQuota {
  /**
   * Takes a part of the amount.
   *
   * @returns a function that returns it, once; `caller` if the caller would have too much, `total` if there is too little left
   */
  take(caller: string, amount: number): (() => void) | 'caller' | 'total'
}

/** Limits of {@link createSharedQuota}. */
export interface SharedLimits {
  /** Maximum of one caller. */
  readonly each: number
  /** Maximum of all callers. A caller that has some of it already gets more only within three quarters of it. */
  readonly total: number
}

/** Part of the total, rounded down, that is only for callers without any. */
const RESERVED = 1 / 4

/** Shares an amount so that a few callers, each with all that it may have, leave some for a caller without any. */
export function createSharedQuota({ each, total }: SharedLimits): SharedQuota {
  const shared = total - Math.floor(total * RESERVED)
  const taken = new Map<string, number>()
  let all = 0

  function give(caller: string, amount: number): void {
    all -= amount
    const left = (taken.get(caller) ?? 0) - amount
    if (left > 0) taken.set(caller, left)
    else taken.delete(caller)
  }

  return {
    take(caller, amount) {
      const had = taken.get(caller) ?? 0
      if (had + amount > each) return 'caller'
      if (all + amount > (had === 0 ? total : shared)) return 'total'
      taken.set(caller, had + amount)
      all += amount
      let isTaken = true
      return () => {
        if (isTaken) give(caller, amount)
        isTaken = false
      }
    },
  }
}
