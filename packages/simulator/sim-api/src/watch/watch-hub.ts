import type { Clock } from '@tranche/clock'
import type { Actor, ResourceId, Watching } from '../model/client.ts'
import type { StatusCause } from '../model/status-error.ts'
import type { Change } from '../store/change.ts'
import { createRandom } from '../model/random.ts'
import { resourceKey, type Store } from '../store/store.ts'
import { expired, futureResourceVersion, invalidObject, namelessError } from '../model/errors.ts'
import type { FaultInjector } from '../faults/faults.ts'
import { notAllowed, notSupported } from '../model/field-errors.ts'
import { apiVersionOf, parseRevision, whyNoRevision } from '../requests/list.ts'
import type { Served } from '../resources/registry.ts'
import type { RequestOptions, WatchRequest, WatchSink } from '../model/request.ts'
import { isOfWholeResource, parseSelection } from '../model/selectors.ts'
import { Watcher } from './watcher.ts'

/** Delay of events from the store to a watcher: drawn per event between these bounds, in milliseconds. */
export interface DelayRange {
  readonly min: number
  readonly max: number
}

/** Dependencies of the watches of a server. */
export interface WatchHubOptions {
  readonly clock: Clock
  readonly store: Store
  readonly seed: number
  readonly delayMs: DelayRange
  readonly faults: () => FaultInjector | undefined
  /** Called for every event and bookmark just before the watcher gets it. */
  readonly deliver: (delivery: { readonly actor: Actor; readonly resource: ResourceId; readonly revision: number }) => void
}

/** All open watches. */
export class WatchHub {
  readonly #options: WatchHubOptions
  readonly #watchers = new Map<string, Set<Watcher>>()
  readonly #opened = new Map<string, number>()

  constructor(options: WatchHubOptions) {
    this.#options = options
  }

  /**
   * Opens a watch. Frames follow by timer, never during this call.
   *
   * @throws {ApiStatusError} 400 for bad selectors, 422 for options that cannot be combined, 500 for a bad resource version
   */
  open(served: Served, request: WatchRequest, sink: WatchSink): Watching {
    const options = request.options ?? {}
    refuseWatchOptions(options)
    const matches = parseSelection(served.definition, { ...options, namespace: request.namespace })
    const { clock, store, seed, delayMs, faults, deliver } = this.#options
    const ordinal = (this.#opened.get(request.actor.name) ?? 0) + 1
    this.#opened.set(request.actor.name, ordinal)
    const watcher = new Watcher({
      clock,
      sink,
      matches,
      actor: request.actor,
      id: served.id,
      ordinal,
      kind: served.definition.kind,
      apiVersion: apiVersionOf(served.definition),
      delayMs,
      random: createRandom(seed, request.actor.name, ordinal),
      faults,
      revision: () => store.revision,
      bookmarks: options.allowWatchBookmarks === true,
      timeoutSeconds: options.timeoutSeconds || undefined,
      onDelivered: (revision) => {
        if (isOfWholeResource(options)) deliver({ actor: request.actor, resource: served.id, revision })
      },
      onClosed: () => this.#watchersOf(served.id).delete(watcher),
    })
    this.#watchersOf(served.id).add(watcher)
    this.#replay(watcher, served, options)
    return watcher
  }

  /** Notifies the watchers of a change; called for every change, in order. */
  dispatch(change: Change): void {
    const watchers = this.#watchers.get(resourceKey(change.id))
    if (watchers !== undefined) for (const watcher of watchers) watcher.see(change)
  }

  /** Ends the currently open watches of a resource, with delays, after its definition was replaced or deleted. */
  closeAll(id: ResourceId, afterMs: number): void {
    const open = [...this.#watchersOf(id)]
    this.#options.clock.setTimer(afterMs, () => open.forEach((watcher) => watcher.close('closed')))
  }

  /** Sends the initial state that precedes new events. */
  #replay(watcher: Watcher, served: Served, { resourceVersion = '', sendInitialEvents }: RequestOptions): void {
    const { store } = this.#options
    const bucket = store.bucket(served.id)
    const startsNow = resourceVersion === '' || resourceVersion === '0'
    if (sendInitialEvents === true && !startsNow && parseRevision(resourceVersion) > store.revision)
      return watcher.fail(futureResourceVersion(resourceVersion, store.revision).status)
    if (sendInitialEvents ?? startsNow) {
      const { keys, objects } = bucket.current()
      watcher.start(keys.map((key) => objects.get(key)!))
      if (sendInitialEvents === true) watcher.endInitialEvents()
      return
    }
    if (startsNow) return
    const revision = parseRevision(resourceVersion)
    const missed = bucket.since(revision)
    if (missed === null) return watcher.fail(expired(`too old resource version: ${revision} (${store.revision})`).status)
    watcher.startAfter(revision)
    for (const change of missed) watcher.see(change)
  }

  #watchersOf(id: ResourceId): Set<Watcher> {
    const key = resourceKey(id)
    const watchers = this.#watchers.get(key) ?? new Set<Watcher>()
    this.#watchers.set(key, watchers)
    return watchers
  }
}

function refuseWatchOptions(options: RequestOptions): void {
  const { sendInitialEvents, resourceVersionMatch: match = '' } = options
  const causes: StatusCause[] = []
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan')
    causes.push(notAllowed('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'))
  if (match !== '' && sendInitialEvents === undefined)
    causes.push(notAllowed('resourceVersionMatch', 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'))
  if (match !== '' && match !== 'NotOlderThan') causes.push(notSupported('resourceVersionMatch', match, ['NotOlderThan']))
  if (match !== '' && options.continue)
    causes.push(notAllowed('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided'))
  if (causes.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', causes)
  const why = options.resourceVersion ? whyNoRevision(options.resourceVersion) : undefined
  // A list responds to the same error with 400; a watch only with its text.
  if (why !== undefined) throw namelessError(why)
}
