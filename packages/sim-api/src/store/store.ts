import type { ApiObject, ResourceId } from '../client.ts'
import { Bucket, storeKey } from './bucket.ts'
import type { Change } from './change.ts'
import { freezeDeep } from './json.ts'

/** What a store is made with. */
export interface StoreOptions {
  /** Revision before the first write. */
  readonly firstRevision: number
  /** How many changes each resource remembers at least. */
  readonly historySize: number
  /** Called after each change, in order. May write to the store again. */
  readonly onChange: (change: Change) => void
}

/** All objects, under one revision that rises by one with every write. Objects handed out are frozen. */
export class Store {
  #revision: number
  readonly #options: StoreOptions
  readonly #buckets = new Map<string, Bucket>()

  constructor(options: StoreOptions) {
    this.#options = options
    this.#revision = options.firstRevision
  }

  /** The revision of the last write to anything. */
  get revision(): number {
    return this.#revision
  }

  /** @returns the objects of one resource; empty for one never written */
  bucket(id: ResourceId): Bucket {
    const key = resourceKey(id)
    let bucket = this.#buckets.get(key)
    if (bucket === undefined) {
      bucket = new Bucket(this.#options.historySize, this.#options.firstRevision)
      this.#buckets.set(key, bucket)
    }
    return bucket
  }

  /** Writes an object under its namespace and name, and gives it its resource version. */
  put(id: ResourceId, object: ApiObject): ApiObject {
    const bucket = this.bucket(id)
    const previous = bucket.get(storeKey(object.metadata.namespace, object.metadata.name))
    return this.#commit(bucket, { id, type: previous === undefined ? 'ADDED' : 'MODIFIED', previous, object }).object
  }

  /** Removes an object that is there. @returns its last state, with the resource version of the removal */
  remove(id: ResourceId, object: ApiObject): ApiObject {
    return this.#commit(this.bucket(id), { id, type: 'DELETED', previous: object, object }).object
  }

  /**
   * Takes in objects as another cluster had them, resource versions included, in place of those of the same name. Nobody is told; the
   * history begins after the newest of them.
   */
  load(id: ResourceId, objects: readonly ApiObject[]): void {
    for (const { metadata } of objects) this.#revision = Math.max(this.#revision, Number(metadata.resourceVersion) || 0)
    const bucket = this.bucket(id)
    for (const object of objects) bucket.load(freezeDeep(object), this.#revision)
  }

  /** Forgets the history of all resources, so that every older resource version is too old to watch from or to list at. */
  compact(): void {
    for (const bucket of this.#buckets.values()) bucket.compact(this.#revision)
  }

  #commit(bucket: Bucket, draft: Omit<Change, 'revision'>): Change {
    const revision = ++this.#revision
    const metadata = { ...draft.object.metadata, resourceVersion: String(revision) }
    const change: Change = { ...draft, revision, object: freezeDeep({ ...draft.object, metadata }) }
    bucket.record(change)
    this.#options.onChange(change)
    return change
  }
}

/** @returns the text under which a resource is found in maps */
export function resourceKey(id: ResourceId): string {
  return `${id.group}/${id.resource}`
}
