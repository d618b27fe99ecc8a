import type { ApiObject, ResourceId } from '../model/client.ts'
import { Bucket, storeKey } from './bucket.ts'
import type { Change } from './change.ts'
import { freezeDeep } from '../model/json.ts'
import { Owners, ownersOf, setOwners } from '../ownership/owners.ts'
import { readManagers } from '../ownership/managers.ts'

/** Options of a store. */
export interface StoreOptions {
  /** Revision before the first write. */
  readonly firstRevision: number
  /** Minimum number of changes kept per resource. */
  readonly historySize: number
  /** Called after each change, in order. May write to the store again. */
  readonly onChange: (change: Change) => void
}

/** All objects, under one revision that increments with every write. Returned objects are frozen. */
export class Store {
  #revision: number
  readonly #options: StoreOptions
  readonly #buckets = new Map<string, Bucket>()

  constructor(options: StoreOptions) {
    this.#options = options
    this.#revision = options.firstRevision
  }

  /** Revision of the last write to any object. */
  get revision(): number {
    return this.#revision
  }

  /** @returns objects of one resource; empty for one never written */
  bucket(id: ResourceId): Bucket {
    const key = resourceKey(id)
    let bucket = this.#buckets.get(key)
    if (bucket === undefined) {
      bucket = new Bucket(this.#options.historySize, this.#options.firstRevision)
      this.#buckets.set(key, bucket)
    }
    return bucket
  }

  /**
   * Writes an object under its namespace and name, and sets its resource version. @param owners of its fields; @default the previous ones
   */
  put(id: ResourceId, object: ApiObject, owners?: Owners): ApiObject {
    const bucket = this.bucket(id)
    const previous = bucket.get(storeKey(object.metadata.namespace, object.metadata.name))
    const type = previous === undefined ? 'ADDED' : 'MODIFIED'
    return this.#commit(bucket, { id, type, previous, object }, owners ?? (previous === undefined ? Owners.none : ownersOf(previous)))
      .object
  }

  /** Removes an existing object. @returns its last state, with the resource version of the removal */
  remove(id: ResourceId, object: ApiObject): ApiObject {
    return this.#commit(this.bucket(id), { id, type: 'DELETED', previous: object, object }, ownersOf(object)).object
  }

  /**
   * Imports objects of another cluster with their resource versions, replacing those of the same name. Notifies no watcher; the history
   * starts after the newest of them.
   */
  load(id: ResourceId, objects: readonly ApiObject[]): void {
    for (const { metadata } of objects) this.#revision = Math.max(this.#revision, Number(metadata.resourceVersion) || 0)
    const bucket = this.bucket(id)
    for (const object of objects) bucket.load(freezeDeep(withStoredOwners(object)), this.#revision)
  }

  /**
   * Changes the read view of a resource's stored objects; the stored form stays until each is written. Notifies no watcher, and the history
   * starts here.
   */
  reread(id: ResourceId, read: (object: ApiObject) => ApiObject): void {
    const reading = (object: ApiObject): ApiObject => freezeDeep(setOwners({ ...read(object) }, ownersOf(object)))
    this.bucket(id).reread(reading, this.#revision)
  }

  /** Drops the history of all resources, so that every older resource version has expired for watches and lists. */
  compact(): void {
    for (const bucket of this.#buckets.values()) bucket.compact(this.#revision)
  }

  #commit(bucket: Bucket, draft: Omit<Change, 'revision'>, owners: Owners): Change {
    const revision = ++this.#revision
    const metadata = { ...draft.object.metadata, resourceVersion: String(revision) }
    const change: Change = { ...draft, revision, object: freezeDeep(setOwners({ ...draft.object, metadata }, owners)) }
    bucket.record(change)
    this.#options.onChange(change)
    return change
  }
}

/** Managed fields of an imported object are not stored in it. */
function withStoredOwners(object: ApiObject): ApiObject {
  const { managedFields, ...metadata } = object.metadata
  if (managedFields === undefined) return object
  return setOwners({ ...object, metadata }, Owners.of(readManagers(managedFields) ?? []))
}

/** @returns map key of a resource */
export function resourceKey(id: ResourceId): string {
  return `${id.group}/${id.resource}`
}
