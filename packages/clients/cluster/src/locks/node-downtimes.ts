import { downtimeBody, downtimeName, type DowntimeWanted, type NodeAgent, type NodeDowntime, toNodeDowntime } from '@tranche/drain'
import {
  createReflector,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeClient,
  type Reflector,
  resourcePaths,
} from '@tranche/kube-client'
import { compareResourceVersions, DOWNTIME_LABEL, type Lease, type ObjectKey } from '@tranche/kube-types'
import { rejectionText } from '../rejection-text.ts'
import type { LockWrite, NodeLocksOptions } from './node-locks.ts'

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
  write(wanted: DowntimeWanted, signal: AbortSignal): Promise<LockWrite>
  /** One request, which rests on this version of the memory. @throws if there is no clear response */
  forget(memory: NodeDowntime, signal: AbortSignal): Promise<void>
}

/** Creates the view of downtimes; nothing is watched before it is started. */
export function watchNodeDowntimes(options: NodeLocksOptions): NodeDowntimes {
  return new WatchedDowntimes(options)
}

class WatchedDowntimes implements NodeDowntimes {
  readonly namespace: string
  readonly #client: KubeClient
  readonly #reflector: Reflector<NodeDowntime>
  /** Memories that this process wrote and its watch does not show yet, by name. */
  readonly #written = new Map<string, NodeDowntime>()

  constructor({ client, clock, log, seed = 0, namespace }: NodeLocksOptions) {
    this.namespace = namespace
    this.#client = client
    this.#reflector = createReflector<NodeDowntime, Lease>({
      ...{ client, clock, log, seed, resource: resourcePaths.leases, scope: { namespace, labelSelector: DOWNTIME_LABEL } },
      transform: toNodeDowntime,
      indexers: { release: ({ open }: NodeDowntime) => open?.permitted.release.uid ?? [] },
    })
  }

  start(signal: AbortSignal, failed: (error: unknown) => void): void {
    this.#reflector.start(signal).catch(failed)
  }

  isSynced(): boolean {
    return this.#reflector.synced
  }

  get(agent: NodeAgent): NodeDowntime | null {
    const name = downtimeName(agent)
    return this.#unseen().get(name) ?? this.#reflector.store.get(this.#keyOf(name)) ?? null
  }

  list(releaseUid?: string): readonly NodeDowntime[] {
    const { store } = this.#reflector
    const shown = releaseUid === undefined ? store.list() : store.byIndex('release', releaseUid)
    const unseen = this.#unseen()
    if (unseen.size === 0) return shown
    const own = [...unseen.values()].filter(({ open }) => releaseUid === undefined || open?.permitted.release.uid === releaseUid)
    return [...shown.filter((one) => !unseen.has(downtimeName(one))), ...own]
  }

  async write(wanted: DowntimeWanted, signal: AbortSignal): Promise<LockWrite> {
    const before = this.get(wanted.agent)
    try {
      const memory = toNodeDowntime(await this.#send(before, wanted, signal))
      if (memory !== null) this.#written.set(downtimeName(memory), memory)
      return { kind: 'done' }
    } catch (error) {
      if (isAlreadyExists(error) || isConflict(error)) return { kind: 'changed' }
      if (isNotFound(error) && before !== null) {
        // Only the watch shows a later one.
        this.#written.delete(downtimeName(wanted.agent))
        return { kind: 'changed' }
      }
      return { kind: 'rejected', message: rejectionText(error) }
    }
  }

  async forget(memory: NodeDowntime, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion } = memory
    const name = downtimeName(memory)
    try {
      const limits = { preconditions: { uid, resourceVersion }, signal, deadlineMs: WRITE_DEADLINE_MS }
      await this.#client.delete(resourcePaths.leases, this.#keyOf(name), limits)
    } catch (error) {
      if (isConflict(error)) return
      if (!isNotFound(error)) throw error
    }
    if (this.#written.get(name)?.uid === uid) this.#written.delete(name)
  }

  async #send(before: NodeDowntime | null, wanted: DowntimeWanted, signal: AbortSignal): Promise<Lease> {
    const { metadata, spec } = downtimeBody(before, wanted)
    const limits = { signal, deadlineMs: WRITE_DEADLINE_MS }
    if (before !== null) {
      const key = this.#keyOf(downtimeName(wanted.agent))
      return this.#client.patch<Lease>(resourcePaths.leases, key, { type: 'merge', body: { metadata, spec } }, limits)
    }
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { ...metadata, namespace: this.namespace }, spec }
    return (await this.#client.create(resourcePaths.leases, lease as never, limits)) as unknown as Lease
  }

  /** By name. A conflict shows that another process wrote later: then the watch has it soon. */
  #unseen(): ReadonlyMap<string, NodeDowntime> {
    const position = this.#reflector.positionOf(this.namespace)
    for (const [name, { resourceVersion }] of this.#written)
      if (compareResourceVersions(position, resourceVersion) >= 0) this.#written.delete(name)
    return this.#written
  }

  #keyOf(name: string): ObjectKey {
    return { namespace: this.namespace, name }
  }
}

/** Deadline of a write, in milliseconds; short, because a pass that waits for it deletes no pods. */
const WRITE_DEADLINE_MS = 5_000
