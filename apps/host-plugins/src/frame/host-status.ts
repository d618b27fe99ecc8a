import type { Lack } from '../reading/lack.ts'

/** State of the reads of a host. The same object until something changes. */
export interface HostStatus {
  /** What the last read had to leave out. */
  readonly lacks: readonly Lack[]
  /** Why the last read failed; null if it did not. */
  readonly error: unknown
}

/** Holds the state of the reads. */
export interface HostStatusStore {
  readonly subscribe: (onChange: () => void) => () => void
  readonly snapshot: () => HostStatus
  set(change: Partial<HostStatus>): void
}

/** Creates a store without lacks and errors. */
export function createHostStatus(): HostStatusStore {
  const listeners = new Set<() => void>()
  let current: HostStatus = { lacks: [], error: null }
  return {
    subscribe(onChange) {
      listeners.add(onChange)
      return () => listeners.delete(onChange)
    },
    snapshot: () => current,
    set(change) {
      const next = { ...current, ...change }
      if (next.error === current.error && JSON.stringify(next.lacks) === JSON.stringify(current.lacks)) return
      current = next
      for (const listener of listeners) listener()
    },
  }
}
