import { compareResourceVersions, keyOf, keyText, type KubeObject, newerResourceVersion, type ObjectKey } from '@tranche/kube-types'
import { createObjectFaults, type Logger, type ObjectFaults } from '@tranche/telemetry'
import { createStore, type Indexer, type MutableStore, type Store, type StoreEntry } from './store.ts'
import { type Change, put, remove, replaceAll } from './store-changes.ts'
import { createThreshold, type Threshold } from './threshold.ts'
import type { WatchEvent } from '../watch-stream.ts'

/** Which parts of objects to keep. */
export interface ResourceCacheOptions<T, O extends KubeObject> {
  /**
   * Chooses what to keep of an object; null keeps nothing. Must depend only on its arguments, because an interrupted list is transformed
   * again. Returning `previous` itself means that nothing relevant changed.
   *
   * An object for which it or an indexer throws is left out of the store, and logged once. A user who may write one object of a kind must
   * not stop the watch of all.
   *
   * @param previous what is kept so far of the same object (same UID)
   */
  readonly transform: (object: O, previous: T | undefined) => T | null
  /** Index keys of values, for `store.byIndex`. */
  readonly indexers?: Readonly<Record<string, Indexer<T>>>
  readonly log: Logger
}

/** Receives changes. */
export interface ReflectorHandler<T> {
  /**
   * A value was added (`previous` undefined), changed, or removed (`current` undefined). A recreated object is removed first, then added.
   * The store shows the change already: after a list, all changes of that list. What it throws is logged, once per object and error; the
   * other handlers and objects are served as if it had returned.
   */
  onChange(key: ObjectKey, previous: T | undefined, current: T | undefined): void
}

/** Objects received from the server so far, and the handlers of their changes. Does not know about connections. */
export interface ResourceCache<T, O extends KubeObject> {
  readonly store: Store<T>
  /** How far the store matches the server. */
  readonly position: Threshold
  /** @returns what is kept of the object; null for nothing, and for an object that cannot be read */
  entryOf(object: O): StoreEntry<T> | null
  /** Applies a whole list. */
  replace(listed: { readonly items: readonly StoreEntry<T>[]; readonly resourceVersion: string }): void
  /** Applies an event. @throws {SetBackError} */
  apply(event: WatchEvent<O>): void
  /** @returns a function that ends the subscription */
  subscribe(handler: ReflectorHandler<T>): () => void
}

/** The server is older than it was before: only a list can show what it holds. */
export class SetBackError extends Error {
  constructor(shown: string, known: string) {
    super(`the server is at version ${shown}, older than ${known}: it was restored to an older state`)
  }
}

/** Creates an empty cache. */
export function createResourceCache<T, O extends KubeObject>(options: ResourceCacheOptions<T, O>): ResourceCache<T, O> {
  const state: State<T, O> = {
    options,
    store: createStore<T>(options.indexers ?? {}),
    position: createThreshold(compareResourceVersions),
    handlers: new Set(),
    unreadable: createObjectFaults((fields) => options.log.error(fields, 'left out an object that cannot be read')),
    unfollowed: createObjectFaults((fields) => options.log.error(fields, 'a follower of changes failed')),
  }
  return {
    store: state.store,
    position: state.position,
    entryOf: (object) => entryOf(state, object),
    replace({ items, resourceVersion }) {
      const changes = replaceAll(state.store, items)
      state.position.set(resourceVersion)
      notifyHandlers(state, changes)
    },
    apply: (event) => apply(state, event),
    subscribe(handler) {
      state.handlers.add(handler)
      return () => void state.handlers.delete(handler)
    },
  }
}

interface State<T, O extends KubeObject> {
  readonly options: ResourceCacheOptions<T, O>
  readonly store: MutableStore<T>
  readonly position: Threshold
  readonly handlers: Set<ReflectorHandler<T>>
  readonly unreadable: ObjectFaults
  readonly unfollowed: ObjectFaults
}

function apply<T, O extends KubeObject>(state: State<T, O>, event: WatchEvent<O>): void {
  const { position } = state
  if (event.type === 'BOOKMARK') {
    if (compareResourceVersions(event.resourceVersion, position.value) < 0) throw new SetBackError(event.resourceVersion, position.value)
    return position.set(event.resourceVersion)
  }
  const changes = change(state, event)
  position.set(newerResourceVersion(position.value, event.object.metadata.resourceVersion))
  notifyHandlers(state, changes)
}

function change<T, O extends KubeObject>(state: State<T, O>, event: Exclude<WatchEvent<O>, { type: 'BOOKMARK' }>): readonly Change<T>[] {
  const entry = event.type === 'DELETED' ? null : entryOf(state, event.object)
  return entry === null ? remove(state.store, keyOf(event.object)) : put(state.store, entry)
}

function entryOf<T, O extends KubeObject>(state: State<T, O>, object: O): StoreEntry<T> | null {
  const key = keyOf(object)
  const { uid } = object.metadata
  const before = state.store.entry(key)
  const value = readObject(state, object, before?.uid === uid ? before.value : undefined)
  return value === null ? null : { key, uid, value }
}

/** Also runs the indexers: one that throws later, within a change of the store, would leave it half done. */
function readObject<T, O extends KubeObject>({ options, unreadable }: State<T, O>, object: O, previous: T | undefined): T | null {
  const read = (): T | null => {
    const value = options.transform(object, previous)
    if (value !== null && value !== previous) for (const indexer of Object.values(options.indexers ?? {})) indexer(value)
    return value
  }
  return unreadable.attempt(keyText(keyOf(object)), read) ?? null
}

/** Passes every change to every handler. */
function notifyHandlers<T, O extends KubeObject>({ handlers, unfollowed }: State<T, O>, changes: readonly Change<T>[]): void {
  for (const { key, previous, current } of changes)
    for (const handler of handlers)
      try {
        handler.onChange(key, previous, current)
      } catch (error) {
        unfollowed.report(keyText(key), error)
      }
}
