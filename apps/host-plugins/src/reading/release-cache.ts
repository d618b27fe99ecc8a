import type { Clock } from '@tranche/clock'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import type { ReadRelease } from './read-release.ts'

/** Releases as they were last read: the parts of a page ask for the same one within moments. */
export interface ReleaseCache {
  /** @returns the release, read at most {@link FRESH_MS} ago; one read at a time for each Rollout */
  get(key: ObjectKey): Promise<ReadRelease>
  /** Reads it in any case. */
  renew(key: ObjectKey): Promise<ReadRelease>
  /** Makes the next question read again, as after a write. */
  forget(key: ObjectKey): void
}

/** Age up to which a read release answers further questions, in milliseconds. */
export const FRESH_MS = 1_500

interface Kept {
  readonly release: Promise<ReadRelease>
  /** Monotonic time at which it had been read; Infinity while the read runs. */
  readAtMs: number
}

/** Creates an empty cache. A failed read is not kept. */
export function createReleaseCache(read: (key: ObjectKey) => Promise<ReadRelease>, clock: Clock): ReleaseCache {
  const kept = new Map<string, Kept>()
  const renew = (key: ObjectKey): Promise<ReadRelease> => {
    const text = keyText(key)
    const entry: Kept = { release: read(key), readAtMs: Number.POSITIVE_INFINITY }
    kept.set(text, entry)
    entry.release.then(
      () => {
        entry.readAtMs = clock.monotonicMs()
      },
      () => {
        if (kept.get(text) === entry) kept.delete(text)
      },
    )
    return entry.release
  }
  return {
    get(key) {
      const entry = kept.get(keyText(key))
      return entry === undefined || clock.monotonicMs() - entry.readAtMs > FRESH_MS ? renew(key) : entry.release
    },
    renew,
    forget: (key) => void kept.delete(keyText(key)),
  }
}
