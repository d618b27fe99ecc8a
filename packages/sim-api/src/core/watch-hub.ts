import type { Clock } from '@tranche/clock'
import type { ResourceId, Watching } from '../client.ts'
import type { StatusCause } from '../status-error.ts'
import type { Change } from '../store/change.ts'
import { createRandom } from '../store/random.ts'
import { resourceKey, type Store } from '../store/store.ts'
import { expired, invalidObject } from './errors.ts'
import type { FaultInjector } from './faults.ts'
import { notAllowed } from './field-errors.ts'
import { apiVersionOf, parseRevision } from './list.ts'
import type { Served } from './registry.ts'
import type { RequestOptions, WatchRequest, WatchSink } from './request.ts'
import { parseSelection } from './selectors.ts'
import { Watcher } from './watcher.ts'

/** How long events take from the store to a watcher, drawn for each event between these bounds, in milliseconds. */
export interface DelayRange {
  readonly min: number
  readonly max: number
}

/** What the watches of a server are made with. */
export interface WatchHubOptions {
  readonly clock: Clock
  readonly store: Store
  readonly seed: number
  readonly delayMs: DelayRange
  readonly faults: () => FaultInjector | undefined
}

/** All watches that are open. */
export class WatchHub {
  readonly #options: WatchHubOptions
  readonly #watchers = new Map<string, Set<Watcher>>()
  readonly #opened = new Map<string, number>()

  constructor(options: WatchHubOptions) {
    this.#options = options
  }

  /**
   * Opens a watch. Frames come later, by timer, never during this call.
   *
   * @throws {ApiStatusError} 400 for bad selectors, 422 for options that do not go together
   */
  open(served: Served, request: WatchRequest, sink: WatchSink): Watching {
    const options = request.options ?? {}
    refuseWatchOptions(options)
    const matches = parseSelection(served.definition, { ...options, namespace: request.namespace })
    const { clock, store, seed, delayMs, faults } = this.#options
    const ordinal = (this.#opened.get(request.actor.name) ?? 0) + 1
    this.#opened.set(request.actor.name, ordinal)
    const watcher = new Watcher({
      clock,
      sink,
      matches,
      actor: request.actor.name,
      id: served.id,
      ordinal,
      kind: served.definition.kind,
      apiVersion: apiVersionOf(served.definition),
      delayMs,
      random: createRandom(seed, request.actor.name, ordinal),
      faults,
      revision: () => store.revision,
      bookmarks: options.allowWatchBookmarks === true,
      timeoutSeconds: options.timeoutSeconds,
      onClosed: () => this.#watchersOf(served.id).delete(watcher),
    })
    this.#watchersOf(served.id).add(watcher)
    this.#replay(watcher, served, options.resourceVersion ?? '')
    return watcher
  }

  /** Tells the watchers of a change; called for every change, in order. */
  dispatch(change: Change): void {
    const watchers = this.#watchers.get(resourceKey(change.id))
    if (watchers !== undefined) for (const watcher of watchers) watcher.see(change)
  }

  /** Ends all watches of a resource that is no longer served. */
  closeAll(id: ResourceId): void {
    for (const watcher of this.#watchersOf(id)) watcher.close('closed')
  }

  #replay(watcher: Watcher, served: Served, resourceVersion: string): void {
    const bucket = this.#options.store.bucket(served.id)
    if (resourceVersion === '' || resourceVersion === '0') {
      const { keys, objects } = bucket.current()
      return watcher.start(keys.map((key) => objects.get(key)!))
    }
    const revision = parseRevision(resourceVersion)
    const missed = bucket.since(revision)
    if (missed === null) return watcher.fail(expired(`too old resource version: ${revision} (${this.#options.store.revision})`).status)
    for (const change of missed) watcher.see(change)
  }

  #watchersOf(id: ResourceId): Set<Watcher> {
    const key = resourceKey(id)
    const watchers = this.#watchers.get(key) ?? new Set<Watcher>()
    this.#watchers.set(key, watchers)
    return watchers
  }
}

/** Streaming lists (`sendInitialEvents`) are not served; clients that get 422 list and watch instead. */
function refuseWatchOptions(options: RequestOptions): void {
  const causes: StatusCause[] = []
  if (options.sendInitialEvents != null)
    causes.push(notAllowed('sendInitialEvents', 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled'))
  if (options.resourceVersionMatch)
    causes.push(notAllowed('resourceVersionMatch', 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'))
  if (causes.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', causes)
  if (options.resourceVersion) parseRevision(options.resourceVersion)
}
