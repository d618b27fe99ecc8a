import { compareResourceVersions, keyOf, type KubeObject, newerResourceVersion, type ObjectKey } from '@tranche/kube-types'
import { createStore, type Indexer, type MutableStore, type Store, type StoreEntry } from './store.ts'
import { type Change, put, remove, replaceAll } from './store-changes.ts'
import { createThreshold, type Threshold } from './threshold.ts'
import type { WatchEvent } from './watch-stream.ts'

/** What to keep of objects, and what becomes of errors. */
export interface ResourceCacheOptions<T, O extends KubeObject> {
  /**
   * Chooses what to keep of an object; null keeps nothing of it. Must depend on its arguments alone, since a list that
   * breaks off is transformed again. Returning `previous` itself says that nothing of interest changed.
   *
   * @param previous what is kept of the same object (same UID) so far
   */
  readonly transform: (object: O, previous: T | undefined) => T | null
  /** Words under which values are found by `store.byIndex`. */
  readonly indexers?: Readonly<Record<string, Indexer<T>>>
  /**
   * Hears of an error that a handler threw. To return is to go on; to throw ends the reflector.
   * @default throws the error
   */
  readonly onHandlerError?: (error: unknown, key: ObjectKey) => void
}

/** Hears of changes. */
export interface ReflectorHandler<T> {
  /**
   * A value came (`previous` undefined), changed, or went (`current` undefined). An object that was made anew under its
   * name goes first, then comes. The store shows the change already: after a list, all changes of that list.
   */
  onChange(key: ObjectKey, previous: T | undefined, current: T | undefined): void
}

/** What has been taken over from the server so far, and who hears of it. Connections are not its business. */
export interface ResourceCache<T, O extends KubeObject> {
  readonly store: Store<T>
  /** How far the store shows what the server holds. */
  readonly position: Threshold
  /** What `transform` or a handler threw first: no fault of the server, so to try again would not help. */
  readonly ownFault: { readonly error: unknown } | undefined
  /** @returns what is kept of the object; null for nothing */
  entryOf(object: O): StoreEntry<T> | null
  /** Takes a whole list over. @throws what a handler threw, once all have heard of all */
  replace(listed: { readonly items: readonly StoreEntry<T>[]; readonly resourceVersion: string }): void
  /**
   * Takes an event over.
   *
   * @throws what `transform` or a handler threw, once all have heard of it; {@link SetBackError}
   */
  apply(event: WatchEvent<O>): void
  /** @returns ends the subscription */
  subscribe(handler: ReflectorHandler<T>): () => void
}

/** The server is older than what it has shown before: only a list can tell what it holds. */
export class SetBackError extends Error {
  constructor(shown: string, known: string) {
    super(`the server is at version ${shown}, older than ${known}: it was set back`)
  }
}

/** Builds a reflection that has taken nothing over yet. */
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

/** Tells every handler of every change, whatever some of them throw; only then fails. */
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
