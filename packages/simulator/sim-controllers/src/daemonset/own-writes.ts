import { compareResourceVersions, newerResourceVersion, type DaemonSet } from '@tranche/kube-types'
import type { DaemonSetCache } from './daemon-set-cache.ts'

/** The controller's own last writes, which show whether its cache has caught up with them. */
export interface OwnWrites {
  /** Records a created or adopted pod. Deletions are tracked as expectations instead. */
  podWritten(owner: DaemonSet, resourceVersion: string): void
  statusWritten(owner: DaemonSet, resourceVersion: string): void
  /** @throws {StaleCacheError} when the cache is older than a write of this DaemonSet */
  requireSeen(key: string, cache: Pick<DaemonSetCache, 'pods' | 'daemonSets'>): void
  /** @param uid of the deleted DaemonSet; writes of another one under the same key stay */
  forget(key: string, uid?: string): void
}

/** The cache does not show this controller's own writes yet; the pass is retried later. */
export class StaleCacheError extends Error {
  override readonly name = 'StaleCacheError'
}

type Resource = 'pods' | 'daemonSets'

interface Writes {
  readonly uid: string
  readonly last: Map<Resource, { readonly resourceVersion: string; readonly atMs: number }>
}

/**
 * A watch that had to list again may never report an object that is gone by then, and learns no version from the list. This bounds the wait
 * for a write.
 */
const EXPIRY_MS = 5 * 60_000

/**
 * @param monotonicMs the clock's monotonic time
 * @returns empty record
 */
export function createOwnWrites(monotonicMs: () => number): OwnWrites {
  const records = new Map<string, Writes>()

  function written({ metadata: { namespace, name, uid } }: DaemonSet, resource: Resource, resourceVersion: string): void {
    const key = `${namespace}/${name}`
    let writes = records.get(key)
    if (writes?.uid !== uid) records.set(key, (writes = { uid, last: new Map() }))
    const before = writes.last.get(resource)?.resourceVersion ?? ''
    writes.last.set(resource, { resourceVersion: newerResourceVersion(before, resourceVersion), atMs: monotonicMs() })
  }

  return {
    podWritten: (owner, resourceVersion) => written(owner, 'pods', resourceVersion),
    statusWritten: (owner, resourceVersion) => written(owner, 'daemonSets', resourceVersion),
    requireSeen(key, cache) {
      for (const [resource, { resourceVersion, atMs }] of records.get(key)?.last ?? []) {
        const seen = cache[resource].resourceVersion
        if (monotonicMs() - atMs > EXPIRY_MS || compareResourceVersions(seen, resourceVersion) >= 0) continue
        throw new StaleCacheError(`the cache of ${resource.toLowerCase()} is at ${seen}, the last write at ${resourceVersion}`)
      }
      records.delete(key)
    },
    forget(key, uid) {
      if (uid === undefined || records.get(key)?.uid === uid) records.delete(key)
    },
  }
}
