import { type Clock, sleep } from '@tranche/clock'
import { compareResourceVersions, type KubeObject } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import { linkAbort } from '../exchange/abortable.ts'
import type { KubeClient, Scope } from '../kube-client.ts'
import { isExpired, isForbidden, isNotFound, isUnauthorized } from '../exchange/kube-status-error.ts'
import {
  createResourceCache,
  type ResourceCache,
  type ResourceCacheOptions,
  type ReflectorHandler,
  SetBackError,
} from './resource-cache.ts'
import type { ResourcePath } from '../resource-path.ts'
import { type Backoff, backoffMs, createRandom } from '../exchange/seeded-random.ts'
import type { Store, StoreEntry } from './store.ts'
import { createThreshold, type Threshold } from './threshold.ts'

/** Dependencies and settings of {@link createReflector}. */
export interface ReflectorOptions<T, O extends KubeObject> extends ResourceCacheOptions<T, O> {
  readonly client: KubeClient
  readonly resource: ResourcePath
  /** @default every object of the resource */
  readonly scope?: Scope
  /** Word that every object contains of which `transform` keeps something, as `mark` of a list. @default none */
  readonly mark?: string
  readonly clock: Clock
  /** Seed for the jitter of the back-off. @default 0 */
  readonly seed?: number
  /** Time without any byte after which a watch counts as dead, in milliseconds. @default as {@link KubeClient.watch} */
  readonly idleTimeoutMs?: number
}

/** Numbers of a reflector's lists, counted from 1. */
export interface Lists {
  /** The last list that was requested; 0: none. */
  readonly begun: number
  /** The last list that was applied; 0: none. */
  readonly done: number
}

/** Local copy of a resource, kept up to date by list and watch. */
export interface Reflector<T> {
  /**
   * Runs until `signal` aborts or `stop` is called, then resolves. May be called once.
   *
   * Faults of the connection or the server never end it, nor does an object that `transform`, an indexer or a handler cannot handle. A
   * rejection is an error of this code, which the caller must handle.
   */
  start(signal?: AbortSignal): Promise<void>
  stop(): void
  readonly store: Store<T>
  /**
   * The store shows everything up to this version; empty before the first list. Lists, events and bookmarks raise it. Only the list of a
   * server that was itself restored to an older state lowers it.
   */
  readonly resourceVersion: string
  /** Like `resourceVersion`, for the objects of one namespace: with one watch per namespace, each has its own position. */
  positionOf(namespace: string): string
  /**
   * Lists of the objects of one namespace. A list shows everything that was read or written before the list began. What it does not show
   * then does not exist: it never did, or is gone, for example after a restore from a backup.
   */
  listsOf(namespace: string): Lists
  /** Number of lists applied so far, over all namespaces. */
  readonly listsDone: number
  /**
   * Increases when a watch begins and when it ends: while it is unchanged, the same connection is open. The API server ends the watches of
   * a kind whose definition changes.
   */
  readonly connectionChanges: number
  /**
   * Lists again, because a server may show the same version of an object with other fields after its definition changed. Resolves once a
   * list that began after the call was applied; rejects when the reflector ends before, or with the signal's reason.
   */
  refresh(signal?: AbortSignal): Promise<void>
  /** Whether the first list has arrived in full. */
  readonly synced: boolean
  /** Resolves once synced; rejects when the reflector ends before, or with the signal's reason. */
  whenSynced(signal?: AbortSignal): Promise<void>
  /** Resolves once the store shows `resourceVersion`; rejects when the reflector ends before, or with the signal's reason. */
  whenReached(resourceVersion: string, signal?: AbortSignal): Promise<void>
  /** Like `whenReached`, for the objects of one namespace; rejects if that namespace is not watched. */
  whenReachedIn(namespace: string, resourceVersion: string, signal?: AbortSignal): Promise<void>
  /** Calls the handler for changes from now on, in order of subscription. @returns a function that ends the subscription */
  subscribe(handler: ReflectorHandler<T>): () => void
}

const BACKOFF: Backoff = { firstMs: 100, mostMs: 30_000 }
/** Lifetime after which a watch counts as good even without events, in milliseconds. */
const GOOD_WATCH_MS = 30_000
/** Lifetime below which even a good watch is not reopened at once: a server that ends all watches must not be overloaded. */
const SHORT_WATCH_MS = 1_000
/** Number of failed watches in a row after which the version itself is in doubt: a server restored from a backup may not know it. */
const DOUBT_AFTER_FAILURES = 8
/** Watches end after this long, up to twice as long, so that connections spread over servers again. */
const WATCH_TIMEOUT_SECONDS = 300

/** Creates a reflector; `start` starts it. */
export function createReflector<T, O extends KubeObject = KubeObject>(options: ReflectorOptions<T, O>): Reflector<T> {
  const log = options.log.child({ resource: options.resource.plural })
  const cache = createResourceCache({ ...options, log })
  const { store, position, subscribe } = cache
  const { resource, seed = 0 } = options
  const state: State<T, O> = {
    options,
    cache,
    log,
    random: createRandom(seed ^ hashOf(resource.plural)),
    mustList: true,
    lists: { begun: 0, done: 0 },
    connectionChanges: 0,
    listed: createThreshold(compareResourceVersions),
    interrupt: () => {},
  }
  const stopping = new AbortController()
  let started = false
  return {
    async start(signal) {
      if (started) throw new Error('the reflector was started before')
      started = true
      await runWithin(state, stopping.signal, signal)
    },
    stop: () => stopping.abort(new Error('the reflector was stopped')),
    store,
    get resourceVersion() {
      return position.value
    },
    positionOf: () => position.value,
    listsOf: () => state.lists,
    get listsDone() {
      return state.lists.done
    },
    get connectionChanges() {
      return state.connectionChanges
    },
    async refresh(signal) {
      const next = state.lists.begun + 1
      state.mustList = true
      state.interrupt()
      await state.listed.whenReached(String(next), signal)
    },
    get synced() {
      return position.value !== ''
    },
    whenSynced: (signal) => position.whenReached('0', signal),
    whenReached: (resourceVersion, signal) => position.whenReached(resourceVersion, signal),
    whenReachedIn: (_namespace, resourceVersion, signal) => position.whenReached(resourceVersion, signal),
    subscribe,
  }
}

interface State<T, O extends KubeObject> {
  readonly options: ReflectorOptions<T, O>
  readonly cache: ResourceCache<T, O>
  readonly log: Logger
  readonly random: () => number
  /** Whether the next round begins with a list. */
  mustList: boolean
  lists: Lists
  connectionChanges: number
  /** `lists.done`, as text. */
  readonly listed: Threshold
  /** Ends the current connection, if any, as the server would: the next round begins. */
  interrupt: () => void
}

/** Runs until either signal aborts; rejects the waits for a position when it ends. */
async function runWithin<T, O extends KubeObject>(
  state: State<T, O>,
  stopping: AbortSignal,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { position } = state.cache
  const abort = linkAbort(signal)
  const onStop = (): void => abort.abort(stopping.reason)
  stopping.addEventListener('abort', onStop, { once: true })
  if (stopping.aborted) onStop()
  try {
    await runUntil(state, abort.signal)
    position.end(abort.signal.reason)
    state.listed.end(abort.signal.reason)
  } catch (error) {
    position.end(error)
    state.listed.end(error)
    throw error
  } finally {
    abort.release()
  }
}

async function runUntil<T, O extends KubeObject>(state: State<T, O>, signal: AbortSignal): Promise<void> {
  const { log, random } = state
  const pause = (ms: number): Promise<void> => pauseQuietly(state.options.clock, ms, signal)
  let failures = 0
  while (!signal.aborted) {
    const { fault, livedMs, good } = await oneRound(state, signal)
    if (signal.aborted) return
    if (good) failures = 0
    if (fault === undefined && good) {
      await pause(livedMs < SHORT_WATCH_MS ? BACKOFF.firstMs : 0)
      continue
    }
    failures++
    if (isExpired(fault) || fault instanceof SetBackError || failures % DOUBT_AFTER_FAILURES === 0) state.mustList = true
    const recheckAfterMs = backoffMs(BACKOFF, failures, random)
    const hint = hintFor(fault)
    if (isUnauthorized(fault)) log.debug({ attempt: failures, recheckAfterMs, err: fault }, 'lost the watch')
    else if (hint === undefined) log.warn({ attempt: failures, recheckAfterMs, err: fault }, 'lost the watch')
    else log.error({ attempt: failures, recheckAfterMs, hint, err: fault }, 'watch is forbidden or the resource is not served')
    await pause(recheckAfterMs)
  }
}

/** @returns what a person has to do; undefined if the fault may pass by itself */
function hintFor(fault: unknown): string | undefined {
  if (isForbidden(fault)) return 'Grant the permission that the API server names; docs/operations/permissions.md lists all required ones.'
  if (isNotFound(fault)) return 'Apply the CustomResourceDefinitions of this version: the API server does not serve this resource.'
  return undefined
}

/** Ends early, without an error, when the signal aborts. */
async function pauseQuietly(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(clock, ms, signal).catch(() => {})
}

/** Result of one connection. */
interface Round {
  /** Cause of a break; undefined if the server ended the watch normally. */
  readonly fault: unknown
  readonly livedMs: number
  /** Whether it proved that its start version is good. */
  readonly good: boolean
}

/** Lists if needed, then watches until the stream ends. */
async function oneRound<T, O extends KubeObject>(state: State<T, O>, signal: AbortSignal): Promise<Round> {
  const { clock } = state.options
  const startMs = clock.monotonicMs()
  // A list alone proves nothing about watches.
  let progressed = false
  let fault: unknown
  const round = linkAbort(signal)
  let isInterrupted = false
  try {
    // Lists again if a refresh was requested during the list.
    while (state.mustList) await relist(state, signal)
    state.interrupt = () => {
      isInterrupted = true
      round.abort(new Error('the objects are listed again'))
    }
    await follow(state, round.signal, () => (progressed = true))
  } catch (error) {
    if (!isInterrupted) fault = error
  } finally {
    state.interrupt = () => {}
    round.release()
  }
  const livedMs = clock.monotonicMs() - startMs
  return { fault, livedMs, good: progressed || isInterrupted || livedMs >= GOOD_WATCH_MS }
}

async function relist<T, O extends KubeObject>(state: State<T, O>, signal: AbortSignal): Promise<void> {
  const { options, cache, log } = state
  const transform = (object: KubeObject): StoreEntry<T> | null => cache.entryOf(object as O)
  const mark = options.mark === undefined ? {} : { mark: options.mark }
  const list = state.lists.begun + 1
  state.lists = { ...state.lists, begun: list }
  state.mustList = false
  const asked = options.client.list<StoreEntry<T>>(options.resource, { ...options.scope, ...mark, signal, transform })
  const listed = await asked.catch((error: unknown) => {
    state.mustList = true
    throw error
  })
  state.lists = { ...state.lists, done: list }
  cache.replace(listed)
  state.listed.set(String(list))
  log.debug({ objects: cache.store.size, resourceVersion: listed.resourceVersion }, 'listed')
}

async function follow<T, O extends KubeObject>(state: State<T, O>, signal: AbortSignal, onProgress: () => void): Promise<void> {
  const { client, resource, scope, idleTimeoutMs } = state.options
  const { position, apply } = state.cache
  const timeoutSeconds = Math.round(WATCH_TIMEOUT_SECONDS * (1 + state.random()))
  const idle = idleTimeoutMs === undefined ? {} : { idleTimeoutMs }
  const watch = { ...scope, ...idle, resourceVersion: position.value, timeoutSeconds, signal }
  state.connectionChanges++
  try {
    for await (const event of client.watch<O>(resource, watch)) {
      onProgress()
      apply(event)
    }
  } finally {
    state.connectionChanges++
  }
}

/** Gives the reflectors of one process different waits. */
function hashOf(text: string): number {
  let hash = 0
  for (const letter of text) hash = (Math.imul(hash, 31) + letter.charCodeAt(0)) | 0
  return hash
}
