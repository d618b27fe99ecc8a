import type { Clock, Timer } from '@tranche/clock'
import type { Actor, ApiObject, ResourceId, Watching } from '../model/client.ts'
import type { ApiStatus } from '../model/status-error.ts'
import type { Change } from '../store/change.ts'
import { freezeDeep } from '../model/json.ts'
import type { Random } from '../model/random.ts'
import { expired } from '../model/errors.ts'
import type { FaultInjector } from '../faults/faults.ts'
import type { WatchFrame, WatchSink } from '../model/request.ts'
import type { Matches } from '../model/selectors.ts'

/** Options of one watch. */
export interface WatcherOptions {
  readonly clock: Clock
  readonly sink: WatchSink
  readonly matches: Matches
  readonly actor: Actor
  readonly id: ResourceId
  /** Index of the watch by this actor: from 1. */
  readonly ordinal: number
  readonly kind: string
  readonly apiVersion: string
  readonly delayMs: { readonly min: number; readonly max: number }
  readonly random: Random
  readonly faults: () => FaultInjector | undefined
  /** Current revision of the store, for bookmarks. */
  readonly revision: () => number
  readonly bookmarks: boolean
  /** Infinity: never ends by itself. Undefined: 30 to 60 minutes, by seed. */
  readonly timeoutSeconds: number | undefined
  /** Called just before a frame is passed to the sink, with the revision up to which everything has been sent. */
  readonly onDelivered: (revision: number) => void
  readonly onClosed: () => void
}

const BOOKMARK_EVERY_MS = 60_000
const LAST_BOOKMARK_BEFORE_MS = 2_000
const SHORTEST_TIMEOUT_SECONDS = 30 * 60

/** `upTo`: everything up to this revision is sent with the frame; 0 when unknown. */
type Delivery =
  | { readonly atMs: number; readonly frame: WatchFrame; readonly upTo: number }
  | { readonly atMs: number; readonly end: 'closed' | 'cut' }

/** Open watch: frames wait in a FIFO queue, each until its time. */
export class Watcher implements Watching {
  readonly #options: WatcherOptions
  #queue: Delivery[] = []
  #lastMs = 0
  #events = 0
  /** The client knows all changes up to this revision. */
  #after = 0
  #state: 'open' | 'ending' | 'stalled' | 'closed' = 'open'
  #delivery: Timer | undefined
  #bookmark: Timer | undefined
  readonly #timeout: Timer | undefined

  constructor(options: WatcherOptions) {
    this.#options = options
    const seconds = options.timeoutSeconds ?? SHORTEST_TIMEOUT_SECONDS * (1 + options.random.next())
    if (Number.isFinite(seconds)) this.#timeout = options.clock.setTimer(seconds * 1000, () => this.close('closed'))
    if (options.bookmarks) this.#planBookmarks(seconds * 1000)
  }

  /** Sends the initial objects. */
  start(objects: readonly ApiObject[]): void {
    for (const object of objects) if (this.#options.matches(object)) this.#send('ADDED', object, 0)
  }

  /** Signals that all initial objects have been sent; no signal without bookmarks. */
  endInitialEvents(): void {
    if (this.#options.bookmarks) this.#bookmarkNow({ 'k8s.io/initial-events-end': 'true' })
  }

  /** Skips changes up to this revision, including future ones. */
  startAfter(revision: number): void {
    this.#after = revision
  }

  /** Sends a change, if it affects the selection. */
  see(change: Change): void {
    if (this.#state !== 'open' || change.revision <= this.#after) return
    const { object, previous } = change
    const was = previous !== undefined && this.#options.matches(previous)
    const is = change.type !== 'DELETED' && this.#options.matches(object)
    if (is) this.#send(was ? 'MODIFIED' : 'ADDED', object)
    else if (was) this.#send('DELETED', change.type === 'DELETED' ? object : leaving(previous, change.revision))
  }

  /** Sends an error, then ends. */
  fail(status: ApiStatus): void {
    if (this.#state !== 'open') return
    this.#state = 'ending'
    this.#enqueue({ frame: { type: 'ERROR', object: status }, upTo: 0 }, 0)
    this.#enqueue({ end: 'closed' }, 0)
  }

  /** Ends at once; waiting frames are dropped. */
  close(how: 'closed' | 'cut'): void {
    if (this.#state === 'closed') return
    this.stop()
    this.#options.sink.end(how)
  }

  stop(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#queue = []
    for (const timer of [this.#delivery, this.#bookmark, this.#timeout]) timer?.cancel()
    this.#options.onClosed()
  }

  /** @param upTo everything up to this revision is sent with the frame */
  #send(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: ApiObject, upTo = Number(object.metadata.resourceVersion)): void {
    if (this.#state !== 'open') return
    const extraMs = this.#fault(type, object)
    if (extraMs !== null) this.#enqueue({ frame: { type, object }, upTo }, extraMs)
  }

  /** @returns delay of the event; null when it is dropped */
  #fault(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: ApiObject): number | null {
    this.#events++
    const { actor, id, ordinal } = this.#options
    const { name, userAgent } = actor
    const at = { actor: name, userAgent, resource: id, watch: ordinal }
    const fault = this.#options.faults()?.onEvent?.({ ...at, event: this.#events, type, object })
    switch (fault?.kind) {
      case undefined:
        return 0
      case 'delay':
        return fault.ms
      case 'cut':
        this.#state = 'ending'
        this.#enqueue({ end: 'cut' }, 0)
        return null
      case 'gap':
        this.fail(expired('too old resource version: the history was compacted').status)
        return null
      case 'stall':
        this.#stall(fault.ms)
        return null
      default:
        fault satisfies never
        return 0
    }
  }

  #stall(ms: number): void {
    this.#state = 'stalled'
    this.#queue = []
    this.#delivery?.cancel()
    this.#timeout?.cancel()
    if (Number.isFinite(ms)) this.#delivery = this.#options.clock.setTimer(ms, () => this.close('cut'))
  }

  #enqueue(what: { readonly frame: WatchFrame; readonly upTo: number } | { readonly end: 'closed' | 'cut' }, extraMs: number): void {
    const { clock, delayMs, random } = this.#options
    const drawnMs = Math.round((delayMs.min + random.next() * (delayMs.max - delayMs.min)) * 1000) / 1000
    this.#lastMs = Math.max(this.#lastMs, clock.monotonicMs() + drawnMs + extraMs)
    this.#queue.push({ ...what, atMs: this.#lastMs })
    if (this.#queue.length === 1) this.#planDelivery(this.#lastMs)
  }

  #planDelivery(atMs: number): void {
    const { clock } = this.#options
    this.#delivery = clock.setTimer(Math.max(0, atMs - clock.monotonicMs()), () => this.#deliver())
  }

  /** Delivers the due frames. The first is always due, because the timer was set for it, whatever the rounding. */
  #deliver(): void {
    const nowMs = this.#options.clock.monotonicMs()
    let due = this.#queue.findIndex((delivery, index) => index > 0 && delivery.atMs > nowMs)
    if (due < 0) due = this.#queue.length
    const batch = this.#queue.slice(0, due)
    this.#queue = this.#queue.slice(due)
    if (this.#queue[0] !== undefined) this.#planDelivery(this.#queue[0].atMs)
    for (const delivery of batch) {
      if (this.#state === 'closed') return
      if ('end' in delivery) this.close(delivery.end)
      else this.#give(delivery)
    }
  }

  #give({ frame, upTo }: { readonly frame: WatchFrame; readonly upTo: number }): void {
    if (upTo > 0) this.#options.onDelivered(upTo)
    this.#options.sink.frame(frame)
  }

  /** Sends bookmarks once a minute and shortly before the end, so that a resumed watch misses little. */
  #planBookmarks(leftMs: number): void {
    const beforeEndMs = leftMs - LAST_BOOKMARK_BEFORE_MS
    if (beforeEndMs <= 0) return
    const waitMs = Math.min(BOOKMARK_EVERY_MS, beforeEndMs)
    this.#bookmark = this.#options.clock.setTimer(waitMs, () => {
      if (this.#state !== 'open') return
      this.#bookmarkNow()
      this.#planBookmarks(leftMs - waitMs)
    })
  }

  #bookmarkNow(annotations?: Readonly<Record<string, string>>): void {
    if (this.#state !== 'open') return
    const { apiVersion, kind, revision } = this.#options
    const upTo = Math.max(revision(), this.#after)
    const metadata = { resourceVersion: String(upTo), ...(annotations && { annotations }) }
    this.#enqueue({ frame: { type: 'BOOKMARK', object: { apiVersion, kind, metadata } }, upTo }, 0)
  }
}

/** An object that no longer matches leaves the watch in its last matching state. */
function leaving(previous: ApiObject, revision: number): ApiObject {
  return freezeDeep({ ...previous, metadata: { ...previous.metadata, resourceVersion: String(revision) } })
}
