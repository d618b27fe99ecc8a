import { compareResourceVersions, newerResourceVersion, type Pod } from '@tranche/kube-types'
import type { DaemonSetCache } from './daemon-set-cache.ts'
import { isTerminating } from './pod-facts.ts'

/** The controller's own last writes, so that a pass can tell whether its cache has caught up with them. */
export interface OwnWrites {
  podCreated(key: string, resourceVersion: string): void
  podDeleted(key: string, pod: Pod): void
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

interface Writes {
  created?: Written
  status?: Written
  readonly deleted: Map<string, { readonly pod: Pod; readonly atMs: number }>
}

/** A watch that had to list again may never tell of an object that is gone by then: no write is waited for longer. */
const EXPIRY_MS = 5 * 60_000

/**
 * @param monotonicMs the clock's monotonic time
 * @returns a record of no writes
 */
export function createOwnWrites(monotonicMs: () => number): OwnWrites {
  const records = new Map<string, Writes>()

  function writesOf(key: string): Writes {
    let writes = records.get(key)
    if (writes === undefined) records.set(key, (writes = { deleted: new Map() }))
    return writes
  }

  function isRecent({ atMs }: { readonly atMs: number }): boolean {
    return monotonicMs() - atMs <= EXPIRY_MS
  }

  function newer(before: Written | undefined, resourceVersion: string): Written {
    return { resourceVersion: newerResourceVersion(before?.resourceVersion ?? '', resourceVersion), atMs: monotonicMs() }
  }

  function requireReached(written: Written | undefined, seen: string, resource: string): void {
    if (written === undefined || !isRecent(written) || compareResourceVersions(seen, written.resourceVersion) >= 0) return
    throw new StaleCacheError(`the cache of ${resource} is at ${seen}, the last write at ${written.resourceVersion}`)
  }

  return {
    podCreated(key, resourceVersion) {
      const writes = writesOf(key)
      writes.created = newer(writes.created, resourceVersion)
    },
    podDeleted: (key, pod) => void writesOf(key).deleted.set(pod.metadata.uid, { pod, atMs: monotonicMs() }),
    statusWritten(key, resourceVersion) {
      const writes = writesOf(key)
      writes.status = newer(writes.status, resourceVersion)
    },
    requireSeen(key, cache) {
      const writes = writesOf(key)
      requireReached(writes.created, cache.pods.resourceVersion, 'pods')
      requireReached(writes.status, cache.daemonSets.resourceVersion, 'daemonsets')
      for (const [uid, deletion] of writes.deleted) {
        if (isRecent(deletion) && lives(deletion.pod, cache))
          throw new StaleCacheError(`the cache does not show the deletion of ${deletion.pod.metadata.name}`)
        writes.deleted.delete(uid)
      }
    },
    forget: (key) => void records.delete(key),
  }
}

function lives({ metadata }: Pod, cache: DaemonSetCache): boolean {
  const cached = cache.pods.get(metadata.name, metadata.namespace)
  return cached?.metadata.uid === metadata.uid && !isTerminating(cached)
}
