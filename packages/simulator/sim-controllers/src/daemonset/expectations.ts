/** Writes that the watch has not reported yet, per DaemonSet. While there are any, the cache is known to be stale. */
export interface Expectations {
  /** Replaces the expectations. */
  expect(key: string, creations: number, deletions: number): void
  creationObserved(key: string): void
  deletionObserved(key: string): void
  /** @returns true when nothing is missing, nothing was ever expected, or five minutes have passed */
  satisfied(key: string): boolean
  forget(key: string): void
}

const EXPIRY_MS = 5 * 60_000

/** @param monotonicMs the clock's monotonic time */
export function createExpectations(monotonicMs: () => number): Expectations {
  const expected = new Map<string, { creations: number; deletions: number; readonly sinceMs: number }>()
  return {
    expect: (key, creations, deletions) => void expected.set(key, { creations, deletions, sinceMs: monotonicMs() }),
    creationObserved(key) {
      const entry = expected.get(key)
      if (entry !== undefined) entry.creations--
    },
    deletionObserved(key) {
      const entry = expected.get(key)
      if (entry !== undefined) entry.deletions--
    },
    satisfied(key) {
      const entry = expected.get(key)
      if (entry === undefined) return true
      return (entry.creations <= 0 && entry.deletions <= 0) || monotonicMs() - entry.sinceMs > EXPIRY_MS
    },
    forget: (key) => void expected.delete(key),
  }
}
