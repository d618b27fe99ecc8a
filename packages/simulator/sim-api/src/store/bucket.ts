import type { ApiObject } from '../model/client.ts'
import type { Change } from './change.ts'
import { jsonEqual } from '../model/json.ts'

/** Objects of one resource at one revision. `keys` are sorted by code unit. */
export interface Snapshot {
  readonly keys: readonly string[]
  readonly objects: ReadonlyMap<string, ApiObject>
}

/** Number of past snapshots cached for the next page of a chunked list. */
const SNAPSHOTS_KEPT = 4

/** Objects of one resource, and their latest changes. */
export class Bucket {
  readonly #objects = new Map<string, ApiObject>()
  readonly #historySize: number
  #keys: readonly string[] | undefined
  #changes: Change[] = []
  /** Revision of the newest dropped change: earlier states are unknown. */
  #compacted: number
  readonly #snapshots = new Map<number, Snapshot>()
  /** Stored forms of objects that are read with fewer fields. */
  readonly #stored = new Map<string, ApiObject>()

  constructor(historySize: number, firstRevision: number) {
    this.#historySize = historySize
    this.#compacted = firstRevision
  }

  /** @param key see {@link storeKey} */
  get(key: string): ApiObject | undefined {
    return this.#objects.get(key)
  }

  /** @returns whether the stored object has more fields than the read one: the next write drops them, even a write without changes */
  isReduced(key: string): boolean {
    return this.#stored.has(key)
  }

  /** Number of objects. */
  get size(): number {
    return this.#objects.size
  }

  /** @returns current objects */
  current(): Snapshot {
    this.#keys ??= [...this.#objects.keys()].sort(byCodeUnit)
    return { keys: this.#keys, objects: this.#objects }
  }

  /** @returns objects at `revision`; null when that is too long ago */
  at(revision: number): Snapshot | null {
    const later = this.since(revision)
    if (later === null) return null
    if (later.length === 0) return this.current()
    const known = this.#snapshots.get(revision)
    if (known !== undefined) return known
    return this.#keep(revision, undo(this.#objects, later))
  }

  /** @returns the changes after `revision`, oldest first; null when that is too long ago */
  since(revision: number): readonly Change[] | null {
    if (revision < this.#compacted) return null
    let low = 0
    let high = this.#changes.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#changes[middle]!.revision > revision) high = middle
      else low = middle + 1
    }
    return low === this.#changes.length ? none : this.#changes.slice(low)
  }

  /** Applies a change; called by the store only. */
  record(change: Change): void {
    const key = storeKey(change.object.metadata.namespace, change.object.metadata.name)
    if (change.type === 'DELETED') this.#objects.delete(key)
    else this.#objects.set(key, change.object)
    this.#stored.delete(key)
    if (change.type !== 'MODIFIED') this.#keys = undefined
    this.#changes.push(change)
    if (this.#changes.length > 2 * this.#historySize) this.#forget(this.#changes.length - this.#historySize)
  }

  /**
   * Changes the read view of stored objects, each with its resource version; the stored form stays until the object is written. Drops every
   * change up to `revision`.
   */
  reread(read: (object: ApiObject) => ApiObject, revision: number): void {
    for (const [key, known] of this.#objects) {
      const stored = this.#stored.get(key) ?? known
      const object = read(stored)
      const isWhole = jsonEqual(object, stored)
      this.#objects.set(key, isWhole ? stored : object)
      if (isWhole) this.#stored.delete(key)
      else this.#stored.set(key, stored)
    }
    this.compact(revision)
  }

  /** Adds an object from before the start of the history. */
  load(object: ApiObject, revision: number): void {
    this.#objects.set(storeKey(object.metadata.namespace, object.metadata.name), object)
    this.#keys = undefined
    this.compact(revision)
  }

  /** Drops every change up to `revision`. */
  compact(revision: number): void {
    this.#changes = []
    this.#compacted = revision
    this.#snapshots.clear()
  }

  #forget(count: number): void {
    const dropped = this.#changes.splice(0, count)
    this.#compacted = dropped.at(-1)!.revision
    for (const revision of this.#snapshots.keys()) if (revision < this.#compacted) this.#snapshots.delete(revision)
  }

  #keep(revision: number, snapshot: Snapshot): Snapshot {
    const oldest = this.#snapshots.keys().next()
    if (this.#snapshots.size >= SNAPSHOTS_KEPT && !oldest.done) this.#snapshots.delete(oldest.value)
    this.#snapshots.set(revision, snapshot)
    return snapshot
  }
}

/** @returns key of an object: `namespace/name`, or the name alone when it has no namespace */
export function storeKey(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`
}

const none: readonly Change[] = []

function undo(objects: ReadonlyMap<string, ApiObject>, changes: readonly Change[]): Snapshot {
  const past = new Map(objects)
  for (const change of changes.toReversed()) {
    const key = storeKey(change.object.metadata.namespace, change.object.metadata.name)
    if (change.previous === undefined) past.delete(key)
    else past.set(key, change.previous)
  }
  return { keys: [...past.keys()].sort(byCodeUnit), objects: past }
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
