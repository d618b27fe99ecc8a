import type { EventReport, StreamMessage } from '@tranche/api-schema'
import type { Clock, Timer } from '@tranche/clock'
import { compareResourceVersions, keyText, type ObjectKey, parseKey } from '@tranche/kube-types'
import { createObjectFaults, type Logger, type ObjectFaults } from '@tranche/telemetry'
import type { ReleaseReads } from '../cluster/release-reads.ts'
import { isBeyond, type Positions } from './positions.ts'

/** A Kubernetes event about a Rollout. */
export interface StreamedEvent {
  /** Key of the Rollout. */
  readonly key: ObjectKey
  readonly event: EventReport
  readonly resourceVersion: string
}

/** Source of changes. */
export interface StreamSource extends Pick<ReleaseReads, 'keys' | 'summary'> {
  positions(): Positions
  /** Resolves once every watch has reached `positions`; rejects with the signal's reason. */
  whenReached(positions: Positions, signal: AbortSignal): Promise<void>
  /** Events that still exist in the cluster, oldest first. */
  events(): readonly StreamedEvent[]
  /** @param changed called with the Rollout whose summary may have changed; null: any Rollout. @returns unsubscribe function */
  subscribe(changed: (key: ObjectKey | null) => void, happened: (event: StreamedEvent) => void): () => void
}

/** A message, serialized once for all readers. */
export interface HubMessage {
  /** Key of the Rollout that it is about. */
  readonly key: ObjectKey
  /** A line of the stream: `data: {…}`. */
  readonly line: string
}

/** A set of changes: a reader with all of its messages is up to date with `positions`. */
export interface HubUpdate {
  readonly positions: Positions
  readonly messages: readonly HubMessage[]
}

/** Publishes changes of Rollouts to any number of readers. */
export interface StreamHub {
  readonly positions: Positions
  /** Every Rollout, as last published. */
  snapshot(): HubUpdate
  /** Namespaces of all Rollouts, including published ones that are deleted since. */
  namespaces(): ReadonlySet<string>
  /** Changes since `positions`; null if the hub's memory does not reach back that far, or there are too many for one reader. */
  since(positions: Positions): HubUpdate | null
  /** @returns unsubscribe function */
  subscribe(reader: (update: HubUpdate) => void): () => void
  close(): void
}

/** Time for which changes are collected into one update, in milliseconds. */
const GATHER_MS = 10
/** Minimum interval between updates, in milliseconds. */
const APART_MS = 100
/** Maximum number of deletions kept for readers that reconnect. */
const GONE_MAX = 1_000
/** Maximum number of events that a reader gets when it resumes: the positions are its own claim, and each reader holds its messages. */
const MISSED_MAX = 1_000

/** @returns the message as a `data:` line of server-sent events */
export function lineOf(message: StreamMessage): string {
  return `data: ${JSON.stringify(message)}`
}

/** Dependencies of {@link createStreamHub}. */
export interface HubParts {
  readonly source: StreamSource
  readonly clock: Clock
  readonly log: Logger
}

/** Creates a hub over synced watches; it publishes at once. It leaves out a Rollout that cannot be summarized, and logs it once. */
export function createStreamHub(parts: HubParts): StreamHub {
  return new WatchedHub(parts)
}

class WatchedHub implements StreamHub {
  readonly #source: StreamSource
  readonly #clock: Clock
  readonly #faults: ObjectFaults
  readonly #unsubscribe: () => void
  readonly #readers = new Set<(update: HubUpdate) => void>()
  /** Rollouts as last published, by key. */
  readonly #sent = new Map<string, SentMessage>()
  /** Deleted Rollouts, oldest first. */
  readonly #gone: SentMessage[] = []
  /** Positions from which on {@link #gone} is complete. */
  #goneSince: Positions
  #positions: Positions
  /** Keys of Rollouts that may have changed since the last update. */
  readonly #dirty = new Set<string>()
  /** Events since the last update. */
  #events: StreamedEvent[] = []
  #timer: Timer | undefined
  #lastMs = Number.NEGATIVE_INFINITY

  constructor({ source, clock, log }: HubParts) {
    this.#source = source
    this.#clock = clock
    this.#faults = createObjectFaults((fields) => log.error(fields, 'left out a Rollout that cannot be summarized'))
    this.#positions = source.positions()
    this.#goneSince = this.#positions
    for (const key of source.keys()) this.#publish(key)
    this.#unsubscribe = source.subscribe(
      (key) => this.#onChange(key),
      (event) => this.#onEvent(event),
    )
  }

  get positions(): Positions {
    return this.#positions
  }

  namespaces(): ReadonlySet<string> {
    const published = [...this.#sent.values(), ...this.#gone]
    return new Set([...this.#source.keys().map(({ namespace }) => namespace), ...published.map(({ message }) => message.key.namespace)])
  }

  snapshot(): HubUpdate {
    return { positions: this.#positions, messages: Array.from(this.#sent.values(), ({ message }) => message) }
  }

  since(known: Positions): HubUpdate | null {
    // Only the watch of Rollouts, which is the first, reports deletions.
    if (isBeyond(this.#goneSince.slice(0, 1), known)) return null
    const missed = (one: SentMessage): boolean => isBeyond(one.positions, known)
    const left = this.#gone.filter((one) => missed(one) && !this.#sent.has(keyText(one.message.key)))
    const changed = [...this.#sent.values()].filter(missed)
    const happened = this.#source.events().filter((event) => isAfter(event, known))
    if (happened.length > MISSED_MAX) return null
    return {
      positions: this.#positions,
      messages: [...left.map(({ message }) => message), ...changed.map(({ message }) => message), ...happened.map(messageOfEvent)],
    }
  }

  subscribe(reader: (update: HubUpdate) => void): () => void {
    this.#readers.add(reader)
    return () => void this.#readers.delete(reader)
  }

  close(): void {
    this.#unsubscribe()
    this.#timer?.cancel()
    this.#readers.clear()
  }

  #onChange(key: ObjectKey | null): void {
    if (key === null) for (const one of this.#sent.keys()) this.#dirty.add(one)
    else this.#dirty.add(keyText(key))
    this.#wake()
  }

  #onEvent(event: StreamedEvent): void {
    this.#events.push(event)
    this.#wake()
  }

  #wake(): void {
    this.#timer ??= this.#clock.setTimer(Math.max(GATHER_MS, this.#lastMs + APART_MS - this.#clock.monotonicMs()), () => this.#flush())
  }

  /** Reads positions first: a change during the flush may be published twice, but is never missed. */
  #flush(): void {
    this.#timer = undefined
    this.#lastMs = this.#clock.monotonicMs()
    this.#positions = this.#source.positions()
    const changed = [...this.#dirty].flatMap((text) => this.#publish(parseKey(text)) ?? [])
    const happened = this.#events.map(messageOfEvent)
    this.#dirty.clear()
    this.#events = []
    if (changed.length + happened.length === 0) return
    const update = { positions: this.#positions, messages: [...changed, ...happened] }
    for (const reader of this.#readers) reader(update)
  }

  /** @returns the message about a Rollout; undefined if it has not changed */
  #publish(key: ObjectKey): HubMessage | undefined {
    const text = keyText(key)
    const line = this.#faults.attempt(text, () => {
      const rollout = this.#source.summary(key)
      return rollout === undefined ? null : lineOf({ type: 'rollout', rollout })
    })
    // One that cannot be summarized was not published, or is withdrawn once.
    if (line === undefined && !this.#sent.has(text)) return undefined
    if (line === undefined || line === null) return this.#publishGone(key)
    const before = this.#sent.get(text)
    const isUnchanged = before?.message.line === line
    const message = isUnchanged ? before.message : { key: { namespace: key.namespace, name: key.name }, line }
    // Advances positions also if unchanged: another replica may have published a state in between.
    this.#sent.set(text, { positions: this.#positions, message })
    return isUnchanged ? undefined : message
  }

  /** Also records Rollouts that were never published here: another replica may have published them. */
  #publishGone(key: ObjectKey): HubMessage | undefined {
    const message = { key, line: lineOf({ type: 'gone', ...key }) }
    const wasSent = this.#sent.delete(keyText(key))
    this.#gone.push({ positions: this.#positions, message })
    if (this.#gone.length > GONE_MAX) this.#goneSince = this.#gone.shift()!.positions
    return wasSent ? message : undefined
  }
}

interface SentMessage {
  /** Positions of the watches when it was published. */
  readonly positions: Positions
  readonly message: HubMessage
}

/** All readers that resume share the text of an event. */
const messagesOfEvents = new WeakMap<StreamedEvent, HubMessage>()

function messageOfEvent(streamed: StreamedEvent): HubMessage {
  const known = messagesOfEvents.get(streamed)
  if (known !== undefined) return known
  const { key, event } = streamed
  const message = { key, line: lineOf({ type: 'event', namespace: key.namespace, event }) }
  messagesOfEvents.set(streamed, message)
  return message
}

/** Whether an event is newer than `known`, whose last position is that of the event watch; true if unknown. */
function isAfter({ resourceVersion }: StreamedEvent, known: Positions): boolean {
  return compareResourceVersions(resourceVersion, known.at(-1) || '0') > 0
}
