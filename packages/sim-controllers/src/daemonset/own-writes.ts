import { compareResourceVersions, newerResourceVersion } from '@tranche/kube-types'
import type { DaemonSetCache } from './daemon-set-cache.ts'

/** The controller's own last writes, so that a pass can tell whether its cache has caught up with them. */
export interface OwnWrites {
  podWritten(key: string, resourceVersion: string): void
  statusWritten(key: string, resourceVersion: string): void
  /** @throws {StaleCacheError} when the cache is older than a write of this DaemonSet */
  requireSeen(key: string, cache: DaemonSetCache): void
  forget(key: string): void
}

/** The cache does not yet show what this controller has written itself; the pass is tried again later. */
export class StaleCacheError extends Error {
  override readonly name = 'StaleCacheError'
}

interface Written {
  readonly resourceVersion: string
  readonly atMs: number
}

/** A watch that had to list again may never tell of an object that is gone by then: no write is waited for longer. */
const EXPIRY_MS = 5 * 60_000

/**
 * @param monotonicMs the clock's monotonic time
 * @returns a record of no writes
 */
export function createOwnWrites(monotonicMs: () => number): OwnWrites {
  const pods = new Map<string, Written>()
  const statuses = new Map<string, Written>()

  function remember(written: Map<string, Written>, key: string, resourceVersion: string): void {
    const newest = newerResourceVersion(written.get(key)?.resourceVersion ?? '', resourceVersion)
    written.set(key, { resourceVersion: newest, atMs: monotonicMs() })
  }

  function requireReached(written: Written | undefined, seen: string, resource: string): void {
    if (written === undefined || monotonicMs() - written.atMs > EXPIRY_MS) return
    if (compareResourceVersions(seen, written.resourceVersion) >= 0) return
    throw new StaleCacheError(`the cache of ${resource} is at ${seen}, the last write at ${written.resourceVersion}`)
  }

  return {
    podWritten: (key, resourceVersion) => remember(pods, key, resourceVersion),
    statusWritten: (key, resourceVersion) => remember(statuses, key, resourceVersion),
    requireSeen(key, cache) {
      requireReached(pods.get(key), cache.pods.resourceVersion, 'pods')
      requireReached(statuses.get(key), cache.daemonSets.resourceVersion, 'daemonsets')
    },
    forget(key) {
      pods.delete(key)
      statuses.delete(key)
    },
  }
}
