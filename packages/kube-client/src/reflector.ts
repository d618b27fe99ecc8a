import { type Clock, sleep } from '@tranche/clock'
import { compareResourceVersions, keyOf, type KubeObject, newerResourceVersion, type ObjectKey } from '@tranche/kube-types'
import type { Logger } from '@tranche/log'
import { linkAbort } from './abortable.ts'
import type { KubeClient, Scope } from './kube-client.ts'
import { isExpired } from './kube-status-error.ts'
import type { ResourcePath } from './resource-path.ts'
import { type Backoff, backoffMs, createRandom } from './seeded-random.ts'
import { createStore, type Indexer, type MutableStore, type Store, type StoreEntry } from './store.ts'
import { createThreshold } from './threshold.ts'
import type { WatchEvent } from './watch-stream.ts'

/** What a reflector needs, and what it keeps. */
export interface ReflectorOptions<T, O extends KubeObject> {
  readonly client: KubeClient
  readonly resource: ResourcePath
  /** @default every object of the resource */
  readonly scope?: Scope
  /**
   * Chooses what to keep of an object; null keeps nothing of it. Must depend on its arguments alone, since a list that
   * breaks off is transformed again. Returning `previous` itself says that nothing of interest changed.
   *
   * @param previous what is kept of the same object (same UID) so far
   */
  readonly transform: (object: O, previous: T | undefined) => T | null
  /** Words under which values are found by `store.byIndex`. */
  readonly indexers?: Readonly<Record<string, Indexer<T>>>
  readonly clock: Clock
  readonly log: Logger
  /** Decides the jitter of back-off. @default 0 */
  readonly seed?: number
  /** Without any byte for so long, in milliseconds, a watch counts as dead. @default as {@link KubeClient.watch} */
  readonly idleTimeoutMs?: number
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

/** A local copy of what the server holds of one resource, kept up by list and watch. */
export interface Reflector<T> {
  /**
   * Runs until `signal` aborts or `stop` is called, then resolves. May be called once.
   *
   * No fault of the connection or the server ends it. It rejects, with the store intact, with what a handler threw
   * (unless `onHandlerError` took it) or `transform` threw: whoever starts it must watch the promise.
   */
  start(signal?: AbortSignal): Promise<void>
  stop(): void
  readonly store: Store<T>
  /**
   * The store shows everything up to here; empty before the first list. Raised by lists, events and bookmarks; lowered only
   * by the list of a server that was itself set back.
   */
  readonly resourceVersion: string
  /** Whether the first list has arrived in full. */
  readonly synced: boolean
  /** Resolves once synced; rejects when the reflector ends before, or with the signal's reason. */
  whenSynced(signal?: AbortSignal): Promise<void>
  /** Resolves once the store shows `resourceVersion`; rejects when the reflector ends before, or with the signal's reason. */
  whenReached(resourceVersion: string, signal?: AbortSignal): Promise<void>
  /** Handlers hear of changes from now on, in order of subscription. @returns ends the subscription */
  subscribe(handler: ReflectorHandler<T>): () => void
}

const BACKOFF: Backoff = { firstMs: 100, mostMs: 30_000 }
/** A watch that lived so long was a good one, even if nothing happened. */
const GOOD_WATCH_MS = 30_000
/** Even after a good watch we do not come back at once if it lived no longer: a server that ends all watches must not be hammered. */
const SHORT_WATCH_MS = 1_000
/** So many bad watches in a row, and the version itself is doubted: a server restored from a backup may not know it. */
const DOUBT_AFTER_FAILURES = 8
/** Watches end by themselves after this long, up to twice as long, so that connections spread over servers again. */
const WATCH_TIMEOUT_SECONDS = 300

/** Builds a reflector; `start` starts it. */
export function createReflector<T, O extends KubeObject = KubeObject>(options: ReflectorOptions<T, O>): Reflector<T> {
  const { client, resource, scope = {}, clock } = options
  const log = options.log.child({ resource: resource.plural })
  const store = createStore<T>(options.indexers ?? {})
  const random = createRandom((options.seed ?? 0) ^ hashOf(resource.plural))
  const handlers = new Set<ReflectorHandler<T>>()
  const position = createThreshold(compareResourceVersions)
  const stopping = new AbortController()
  let started = false
  let mustList = true
  /** Whether the watch of this round has sent anything; a list alone proves nothing about watches. */
  let progressed = false
  let ownFault: { readonly error: unknown } | undefined

  return {
    start,
    stop: () => stopping.abort(new Error('the reflector was stopped')),
    store,
    get resourceVersion() {
      return position.value
    },
    get synced() {
      return position.value !== ''
    },
    whenSynced: (signal) => position.whenReached('0', signal),
    whenReached: (resourceVersion, signal) => position.whenReached(resourceVersion, signal),
    subscribe(handler) {
      handlers.add(handler)
      return () => void handlers.delete(handler)
    },
  }

  async function start(signal?: AbortSignal): Promise<void> {
    if (started) throw new Error('the reflector was started before')
    started = true
    const abort = linkAbort(signal)
    const onStop = (): void => abort.abort(stopping.signal.reason)
    stopping.signal.addEventListener('abort', onStop, { once: true })
    if (stopping.signal.aborted) onStop()
    try {
      await runUntil(abort.signal)
      position.end(abort.signal.reason)
    } catch (error) {
      position.end(error)
      throw error
    } finally {
      abort.release()
    }
  }

  async function runUntil(signal: AbortSignal): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      const outcome = await oneRound(signal)
      if (signal.aborted) return
      if (outcome.good) failures = 0
      if (outcome.fault === undefined && outcome.good) {
        await pause(outcome.livedMs < SHORT_WATCH_MS ? BACKOFF.firstMs : 0, signal)
        continue
      }
      failures++
      if (isExpired(outcome.fault) || failures % DOUBT_AFTER_FAILURES === 0) mustList = true
      const recheckAfterMs = backoffMs(BACKOFF, failures, random)
      log.warn({ attempt: failures, recheckAfterMs, err: outcome.fault }, 'lost the watch')
      await pause(recheckAfterMs, signal)
    }
  }

  /** Ends early, and quietly, when the signal aborts. */
  async function pause(ms: number, signal: AbortSignal): Promise<void> {
    if (ms > 0) await sleep(clock, ms, signal).catch(() => {})
  }

  /** Lists if need be, then watches until the stream ends. */
  async function oneRound(signal: AbortSignal): Promise<Round> {
    const startMs = clock.monotonicMs()
    progressed = false
    const fault = await listAndFollow(signal)
    const livedMs = clock.monotonicMs() - startMs
    return { fault, livedMs, good: progressed || livedMs >= GOOD_WATCH_MS }
  }

  /** @returns what broke the connection; undefined when the server ended the watch in good order */
  async function listAndFollow(signal: AbortSignal): Promise<unknown> {
    try {
      if (mustList) await relist(signal)
      await follow(signal)
      return undefined
    } catch (error) {
      if (ownFault !== undefined) throw ownFault.error
      return error
    }
  }

  async function relist(signal: AbortSignal): Promise<void> {
    const listed = await client.list<StoreEntry<T>>(resource, { ...scope, signal, transform: (object) => entryOf(object as O) })
    const changes = replaceAll(store, listed.items)
    mustList = false
    position.set(listed.resourceVersion)
    log.debug({ objects: store.size, resourceVersion: listed.resourceVersion }, 'listed')
    tell(changes)
  }

  async function follow(signal: AbortSignal): Promise<void> {
    const timeoutSeconds = Math.round(WATCH_TIMEOUT_SECONDS * (1 + random()))
    const idle = options.idleTimeoutMs === undefined ? {} : { idleTimeoutMs: options.idleTimeoutMs }
    const watch = { ...scope, ...idle, resourceVersion: position.value, timeoutSeconds, signal }
    for await (const event of client.watch<O>(resource, watch)) apply(event)
  }

  function apply(event: WatchEvent<O>): void {
    progressed = true
    if (event.type === 'BOOKMARK') return mark(event.resourceVersion)
    const changes = change(event)
    position.set(newerResourceVersion(position.value, event.object.metadata.resourceVersion))
    tell(changes)
  }

  function mark(resourceVersion: string): void {
    if (compareResourceVersions(resourceVersion, position.value) < 0) {
      mustList = true
      throw new Error(`the server is at version ${resourceVersion}, older than ${position.value}: it was set back`)
    }
    position.set(resourceVersion)
  }

  function change(event: Exclude<WatchEvent<O>, { type: 'BOOKMARK' }>): readonly Change<T>[] {
    const entry = event.type === 'DELETED' ? null : entryOf(event.object)
    return entry === null ? remove(store, keyOf(event.object)) : put(store, entry)
  }

  function entryOf(object: O): StoreEntry<T> | null {
    const key = keyOf(object)
    const { uid } = object.metadata
    const before = store.entry(key)
    const value = transformOrFail(object, before?.uid === uid ? before.value : undefined)
    return value === null ? null : { key, uid, value }
  }

  function transformOrFail(object: O, previous: T | undefined): T | null {
    try {
      return options.transform(object, previous)
    } catch (error) {
      ownFault ??= { error }
      throw error
    }
  }

  /** Tells every handler of every change, whatever some of them throw; only then fails. */
  function tell(changes: readonly Change<T>[]): void {
    for (const { key, previous, current } of changes) for (const handler of handlers) tellOne(handler, key, previous, current)
    if (ownFault !== undefined) throw ownFault.error
  }

  function tellOne(handler: ReflectorHandler<T>, key: ObjectKey, previous: T | undefined, current: T | undefined): void {
    try {
      handler.onChange(key, previous, current)
    } catch (error) {
      try {
        if (options.onHandlerError === undefined) throw error
        options.onHandlerError(error, key)
      } catch (fatal) {
        ownFault ??= { error: fatal }
      }
    }
  }
}

/** How one connection went. */
interface Round {
  readonly fault: unknown
  readonly livedMs: number
  /** It has shown that the version it started from is good. */
  readonly good: boolean
}

interface Change<T> {
  readonly key: ObjectKey
  readonly previous: T | undefined
  readonly current: T | undefined
}

/** Makes the store hold exactly `items`. @returns what changed: first what went, then the rest */
function replaceAll<T>(store: MutableStore<T>, items: readonly StoreEntry<T>[]): readonly Change<T>[] {
  const uids = new Set(items.map((item) => item.uid))
  const gone = [...store.entries()].filter((entry) => !uids.has(entry.uid))
  return [...gone.flatMap((entry) => remove(store, entry.key)), ...items.flatMap((item) => put(store, item))]
}

function put<T>(store: MutableStore<T>, entry: StoreEntry<T>): readonly Change<T>[] {
  const { key, value } = entry
  const before = store.entry(key)
  if (before?.uid === entry.uid && before.value === value) return []
  store.set(entry)
  if (before === undefined || before.uid === entry.uid) return [{ key, previous: before?.value, current: value }]
  return [
    { key, previous: before.value, current: undefined },
    { key, previous: undefined, current: value },
  ]
}

function remove<T>(store: MutableStore<T>, key: ObjectKey): readonly Change<T>[] {
  const before = store.entry(key)
  if (before === undefined) return []
  store.delete(key)
  return [{ key, previous: before.value, current: undefined }]
}

/** Lets reflectors of one process wait differently. */
function hashOf(text: string): number {
  let hash = 0
  for (const letter of text) hash = (Math.imul(hash, 31) + letter.charCodeAt(0)) | 0
  return hash
}
