import { compareResourceVersions, keyOf, type KubeObject, newerResourceVersion, type ObjectKey } from '@tranche/kube-types'
import { createStore, type Indexer, type MutableStore, type Store, type StoreEntry } from './store.ts'
import { type Change, put, remove, replaceAll } from './store-changes.ts'
import { createThreshold, type Threshold } from './threshold.ts'
import type { WatchEvent } from '../watch-stream.ts'

/** Which parts of objects to keep, and how errors are handled. */
export interface ResourceCacheOptions<T, O extends KubeObject> {
  /**
   * Chooses what to keep of an object; null keeps nothing. Must depend only on its arguments, because an interrupted list is transformed
   * again. Returning `previous` itself means that nothing relevant changed.
   *
   * @param previous what is kept so far of the same object (same UID)
   */
  readonly transform: (object: O, previous: T | undefined) => T | null
  /** Index keys of values, for `store.byIndex`. */
  readonly indexers?: Readonly<Record<string, Indexer<T>>>
  /**
   * Called with an error that a handler threw. Returning continues; throwing ends the reflector.
   * @default throws the error
   */
  readonly onHandlerError?: (error: unknown, key: ObjectKey) => void
}

/** Receives changes. */
export interface ReflectorHandler<T> {
  /**
   * A value was added (`previous` undefined), changed, or removed (`current` undefined). A recreated object is removed first, then added.
   * The store shows the change already: after a list, all changes of that list.
   */
  onChange(key: ObjectKey, previous: T | undefined, current: T | undefined): void
}

/** Objects received from the server so far, and the handlers of their changes. Does not know about connections. */
export interface ResourceCache<T, O extends KubeObject> {
  readonly store: Store<T>
  /** How far the store matches the server. */
  readonly position: Threshold
  /** First error of `transform` or a handler: not a fault of the server, so a retry would not help. */
  readonly ownFault: { readonly error: unknown } | undefined
  /** @returns what is kept of the object; null for nothing */
  entryOf(object: O): StoreEntry<T> | null
  /** Applies a whole list. @throws what a handler threw, after every handler has received every change */
  replace(listed: { readonly items: readonly StoreEntry<T>[]; readonly resourceVersion: string }): void
  /**
   * Applies an event.
   *
   * @throws what `transform` or a handler threw, after every handler has received it; {@link SetBackError}
   */
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
    ownFault: undefined,
  }
  return {
    store: state.store,
    position: state.position,
    get ownFault() {
      return state.ownFault
    },
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
  ownFault: { readonly error: unknown } | undefined
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
  const value = transformOrFail(state, object, before?.uid === uid ? before.value : undefined)
  return value === null ? null : { key, uid, value }
}

function transformOrFail<T, O extends KubeObject>(state: State<T, O>, object: O, previous: T | undefined): T | null {
  try {
    return state.options.transform(object, previous)
  } catch (error) {
    state.ownFault ??= { error }
    throw error
  }
}

/** Passes every change to every handler, even if some throw; fails only afterwards. */
function notifyHandlers<T, O extends KubeObject>(state: State<T, O>, changes: readonly Change<T>[]): void {
  for (const one of changes) for (const handler of state.handlers) notifyHandler(state, handler, one)
  if (state.ownFault !== undefined) throw state.ownFault.error
}

function notifyHandler<T, O extends KubeObject>(
  state: State<T, O>,
  handler: ReflectorHandler<T>,
  { key, previous, current }: Change<T>,
): void {
  const { onHandlerError } = state.options
  try {
    handler.onChange(key, previous, current)
  } catch (error) {
    try {
      if (onHandlerError === undefined) throw error
      onHandlerError(error, key)
    } catch (fatal) {
      state.ownFault ??= { error: fatal }
    }
  }
}
