import type { Clock } from '@tranche/clock'
import { lockBody, type LockWanted, type NodeLock, nodeLockName, toNodeLock } from '@tranche/drain'
import { createReflector, isNotFound, type KubeClient, type Reflector, resourcePaths } from '@tranche/kube-client'
import type { Lease, ObjectKey } from '@tranche/kube-types'
import { createOwnWrites, type OwnWrites } from '../own-writes.ts'
import { deleteLease, type LeaseWatchOptions, type LeaseWrite, toLeaseWrite, writeLease } from './lease-writes.ts'

/** Locks of nodes, as one process sees them: one watch for all, and its own writes at once. */
export interface NodeLocks {
  readonly namespace: string
  /** Starts the watch; `failed` receives the error that ends it before `signal` does. */
  start(signal: AbortSignal, failed: (error: unknown) => void): void
  /** Whether the first list has arrived. */
  isSynced(): boolean
  /** @returns the lock of the node, held or expired; null without one */
  get(node: string): NodeLock | null
  /** @returns the locks that BatchReleases hold or held last, or those of one, by its uid */
  list(releaseUid?: string): readonly NodeLock[]
  /** One request, which rests on the lock as {@link get} shows it. @throws if there is no clear response */
  write(wanted: LockWanted, signal: AbortSignal): Promise<LeaseWrite>
  /** One request, which rests on this version of the lock. @returns whether it is free @throws if there is no clear response */
  free(lock: NodeLock, signal: AbortSignal): Promise<boolean>
  /** Calls back for each change of a lock that a BatchRelease holds or held before. */
  subscribe(onChange: (release: NonNullable<NodeLock['release']>) => void): void
}

/** Creates the view of locks; nothing is watched before it is started. */
export function watchNodeLocks(options: LeaseWatchOptions): NodeLocks {
  return new WatchedNodeLocks(options)
}

class WatchedNodeLocks implements NodeLocks {
  readonly namespace: string
  readonly #client: KubeClient
  readonly #clock: Clock
  readonly #reflector: Reflector<NodeLock>
  /** By node. */
  readonly #written: OwnWrites<NodeLock>
  /** Uids of Leases that this process deleted and its watch may still show. */
  readonly #deleted = new Set<string>()

  constructor({ client, clock, log, seed = 0, namespace }: LeaseWatchOptions) {
    this.namespace = namespace
    this.#client = client
    this.#clock = clock
    this.#reflector = createReflector<NodeLock, Lease>({
      ...{ client, clock, log, seed, resource: resourcePaths.leases, scope: { namespace } },
      transform: toNodeLock,
      indexers: { release: ({ release }: NodeLock) => (release === null ? [] : [EVERY, release.uid]) },
    })
    this.#written = createOwnWrites(this.#reflector, () => namespace)
    this.#reflector.subscribe({
      onChange: (_key, previous, current) => {
        if (previous !== undefined && current?.uid !== previous.uid) this.#deleted.delete(previous.uid)
      },
    })
  }

  start(signal: AbortSignal, failed: (error: unknown) => void): void {
    this.#reflector.start(signal).catch(failed)
  }

  isSynced(): boolean {
    return this.#reflector.synced
  }

  get(node: string): NodeLock | null {
    const lock = this.#written.unseen().get(node) ?? this.#reflector.store.get(this.#keyOf(node))
    return lock === undefined || this.#deleted.has(lock.uid) ? null : lock
  }

  list(releaseUid = EVERY): readonly NodeLock[] {
    const unseen = this.#written.unseen()
    const own = [...unseen.values()].filter(({ release }) => release !== null && (releaseUid === EVERY || release.uid === releaseUid))
    const shown = this.#reflector.store.byIndex('release', releaseUid).filter(({ node }) => !unseen.has(node))
    return [...shown, ...own].filter(({ uid }) => !this.#deleted.has(uid))
  }

  async write(wanted: LockWanted, signal: AbortSignal): Promise<LeaseWrite> {
    const before = this.get(wanted.node)
    const body = lockBody(before, wanted, this.#clock.nowMs())
    try {
      const lease = await writeLease(this.#client, { key: this.#keyOf(wanted.node), exists: before !== null, body }, signal)
      const lock = toNodeLock(lease)
      if (lock !== null) this.#written.learn(lock.node, lock)
      return { kind: 'done' }
    } catch (error) {
      // Only the watch shows a later one.
      if (isNotFound(error)) this.#written.forget(wanted.node)
      return toLeaseWrite(error, before !== null)
    }
  }

  async free({ node, uid, resourceVersion }: NodeLock, signal: AbortSignal): Promise<boolean> {
    if (!(await deleteLease(this.#client, this.#keyOf(node), { uid, resourceVersion }, signal))) return false
    const own = this.#written.unseen().get(node)?.uid === uid
    // A watch that has shown the deletion already never shows it again.
    if (own || this.#reflector.store.get(this.#keyOf(node))?.uid === uid) this.#deleted.add(uid)
    if (own) this.#written.forget(node)
    return true
  }

  subscribe(onChange: (release: NonNullable<NodeLock['release']>) => void): void {
    this.#reflector.subscribe({
      onChange(_key, previous, current) {
        const releases = [previous?.release ?? null, current?.release ?? null].filter((one) => one !== null)
        for (const release of new Map(releases.map((one) => [`${one.namespace}/${one.uid}`, one])).values()) onChange(release)
      },
    })
  }

  #keyOf(node: string): ObjectKey {
    return { namespace: this.namespace, name: nodeLockName(node) }
  }
}

/** Index key of every lock of a BatchRelease. */
const EVERY = ''
