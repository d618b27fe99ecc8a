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

/** @returns a record of no writes */
export function createOwnWrites(): OwnWrites {
  const pods = new Map<string, string>()
  const statuses = new Map<string, string>()
  return {
    podWritten: (key, resourceVersion) => void pods.set(key, newerResourceVersion(pods.get(key) ?? '', resourceVersion)),
    statusWritten: (key, resourceVersion) => void statuses.set(key, newerResourceVersion(statuses.get(key) ?? '', resourceVersion)),
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

function requireReached(written: string | undefined, seen: string, resource: string): void {
  if (written === undefined || compareResourceVersions(seen, written) >= 0) return
  throw new StaleCacheError(`the cache of ${resource} is at ${seen}, the last write at ${written}`)
}
