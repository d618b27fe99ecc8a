import { downtimeBody, downtimeName, type DowntimeWanted, type NodeAgent, type NodeDowntime, toNodeDowntime } from '@tranche/drain'
import { createReflector, isAlreadyExists, isNotFound, type KubeClient, type Reflector, resourcePaths } from '@tranche/kube-client'
import { DOWNTIME_LABEL, type Lease, type ObjectKey } from '@tranche/kube-types'
import { createOwnWrites, type OwnWrites } from '../own-writes.ts'
import { deleteLease, type LeaseWatchOptions, type LeaseWrite, toLeaseWrite, writeLease } from './lease-writes.ts'

/** Result of a write of a memory. */
export type DowntimeWrite =
  | LeaseWrite
  /** A Lease of its name exists, which was not shown as a memory: it is new, or its label or its contents are those of something else. */
  | { readonly kind: 'taken' }

/** Memories of downtimes, as one process sees them: one watch for all, and its own writes at once. */
export interface NodeDowntimes {
  readonly namespace: string
  /** Starts the watch; `failed` receives the error that ends it before `signal` does. */
  start(signal: AbortSignal, failed: (error: unknown) => void): void
  /** Whether the first list has arrived. */
  isSynced(): boolean
  /** @returns the memory of an agent on a node; null without one */
  get(agent: NodeAgent): NodeDowntime | null
  /** @returns all memories, or those with an open downtime of one BatchRelease, by its uid */
  list(releaseUid?: string): readonly NodeDowntime[]
  /** One request, which rests on the memory as {@link get} shows it. @throws if there is no clear response */
  write(wanted: DowntimeWanted, signal: AbortSignal): Promise<DowntimeWrite>
  /** One request, which rests on this version of the memory. @throws if there is no clear response */
  forget(memory: NodeDowntime, signal: AbortSignal): Promise<void>
}

/** Creates the view of downtimes; nothing is watched before it is started. */
export function watchNodeDowntimes(options: LeaseWatchOptions): NodeDowntimes {
  return new WatchedDowntimes(options)
}

class WatchedDowntimes implements NodeDowntimes {
  readonly namespace: string
  readonly #client: KubeClient
  readonly #reflector: Reflector<NodeDowntime>
  /** By name. */
  readonly #written: OwnWrites<NodeDowntime>

  constructor({ client, clock, log, seed = 0, namespace }: LeaseWatchOptions) {
    this.namespace = namespace
    this.#client = client
    this.#reflector = createReflector<NodeDowntime, Lease>({
      ...{ client, clock, log, seed, resource: resourcePaths.leases, scope: { namespace, labelSelector: DOWNTIME_LABEL } },
      transform: toNodeDowntime,
      indexers: { release: ({ open }: NodeDowntime) => open?.permitted.release.uid ?? [] },
    })
    this.#written = createOwnWrites(this.#reflector, () => namespace)
  }

  start(signal: AbortSignal, failed: (error: unknown) => void): void {
    this.#reflector.start(signal).catch(failed)
  }

  isSynced(): boolean {
    return this.#reflector.synced
  }

  get(agent: NodeAgent): NodeDowntime | null {
    const name = downtimeName(agent)
    return this.#written.unseen().get(name) ?? this.#reflector.store.get(this.#keyOf(name)) ?? null
  }

  list(releaseUid?: string): readonly NodeDowntime[] {
    const { store } = this.#reflector
    const shown = releaseUid === undefined ? store.list() : store.byIndex('release', releaseUid)
    const unseen = this.#written.unseen()
    if (unseen.size === 0) return shown
    const own = [...unseen.values()].filter(({ open }) => releaseUid === undefined || open?.permitted.release.uid === releaseUid)
    return [...shown.filter((one) => !unseen.has(downtimeName(one))), ...own]
  }

  async write(wanted: DowntimeWanted, signal: AbortSignal): Promise<DowntimeWrite> {
    const before = this.get(wanted.agent)
    const name = downtimeName(wanted.agent)
    const body = downtimeBody(before, wanted)
    try {
      const memory = toNodeDowntime(await writeLease(this.#client, { key: this.#keyOf(name), exists: before !== null, body }, signal))
      if (memory !== null) this.#written.learn(name, memory)
      return { kind: 'done' }
    } catch (error) {
      // Only the watch shows a later one.
      if (isNotFound(error)) this.#written.forget(name)
      return isAlreadyExists(error) ? { kind: 'taken' } : toLeaseWrite(error, before !== null)
    }
  }

  async forget(memory: NodeDowntime, signal: AbortSignal): Promise<void> {
    const name = downtimeName(memory)
    const isGone = await deleteLease(this.#client, this.#keyOf(name), memory, signal)
    if (isGone && this.#written.unseen().get(name)?.uid === memory.uid) this.#written.forget(name)
  }

  #keyOf(name: string): ObjectKey {
    return { namespace: this.namespace, name }
  }
}
