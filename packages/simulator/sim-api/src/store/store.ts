import type { ApiObject, ResourceId } from '../client.ts'
import { Bucket, storeKey } from './bucket.ts'
import type { Change } from './change.ts'
import { freezeDeep } from './json.ts'
import { Owners, ownersOf, setOwners } from '../ownership/owners.ts'
import { readManagers } from '../ownership/managers.ts'

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

  /** Writes an object under its namespace and name, and gives it its resource version. @param owners of its fields; @default those it had */
  put(id: ResourceId, object: ApiObject, owners?: Owners): ApiObject {
    const bucket = this.bucket(id)
    const previous = bucket.get(storeKey(object.metadata.namespace, object.metadata.name))
    const type = previous === undefined ? 'ADDED' : 'MODIFIED'
    return this.#commit(bucket, { id, type, previous, object }, owners ?? (previous === undefined ? Owners.none : ownersOf(previous)))
      .object
  }

  /** Removes an object that is there. @returns its last state, with the resource version of the removal */
  remove(id: ResourceId, object: ApiObject): ApiObject {
    return this.#commit(this.bucket(id), { id, type: 'DELETED', previous: object, object }, ownersOf(object)).object
  }

  /**
   * Takes in objects as another cluster had them, resource versions included, in place of those of the same name. Nobody is told; the
   * history begins after the newest of them.
   */
  load(id: ResourceId, objects: readonly ApiObject[]): void {
    for (const { metadata } of objects) this.#revision = Math.max(this.#revision, Number(metadata.resourceVersion) || 0)
    const bucket = this.bucket(id)
    for (const object of objects) bucket.load(freezeDeep(withStoredOwners(object)), this.#revision)
  }

  /**
   * From now on the objects of a resource are read as `read` makes them of what is stored; what is stored stays until each is written. No watch hears
   * of it, and the history begins here.
   */
  reread(id: ResourceId, read: (object: ApiObject) => ApiObject): void {
    const reading = (object: ApiObject): ApiObject => freezeDeep(setOwners({ ...read(object) }, ownersOf(object)))
    this.bucket(id).reread(reading, this.#revision)
  }

  /** Forgets the history of all resources, so that every older resource version is too old to watch from or to list at. */
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

/** Managed fields that came with an object are not kept in it. */
function withStoredOwners(object: ApiObject): ApiObject {
  const { managedFields, ...metadata } = object.metadata
  if (managedFields === undefined) return object
  return setOwners({ ...object, metadata }, Owners.of(readManagers(managedFields) ?? []))
}

/** @returns the text under which a resource is found in maps */
export function resourceKey(id: ResourceId): string {
  return `${id.group}/${id.resource}`
}
