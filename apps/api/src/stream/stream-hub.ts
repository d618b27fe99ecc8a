import type { EventReport, StreamMessage } from '@tranche/api-schema'
import type { Clock, Timer } from '@tranche/clock'
import { compareResourceVersions, keyText, type ObjectKey, parseKey } from '@tranche/kube-types'
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
  /** Changes since `positions`; null if the hub's memory does not reach back that far. */
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

/** @returns the message as a `data:` line of server-sent events */
export function lineOf(message: StreamMessage): string {
  return `data: ${JSON.stringify(message)}`
}

/** Creates a hub over synced watches; it publishes at once. */
export function createStreamHub({ source, clock }: { readonly source: StreamSource; readonly clock: Clock }): StreamHub {
  const sent = new Map<string, SentMessage>()
  const gone: Gone[] = []
  const readers = new Set<(update: HubUpdate) => void>()
  const dirty = new Set<string>()
  let events: StreamedEvent[] = []
  let positions = source.positions()
  let goneSince = positions
  let timer: Timer | undefined
  let lastMs = Number.NEGATIVE_INFINITY

  for (const key of source.keys()) retell(key)
  const unsubscribe = source.subscribe(
    (key) => {
      if (key === null) for (const one of sent.keys()) dirty.add(one)
      else dirty.add(keyText(key))
      wake()
    },
    (event) => {
      events.push(event)
      wake()
    },
  )

  function wake(): void {
    timer ??= clock.setTimer(Math.max(GATHER_MS, lastMs + APART_MS - clock.monotonicMs()), flush)
  }

  /** Reads positions first: a change during the flush may be published twice, but is never missed. */
  function flush(): void {
    timer = undefined
    lastMs = clock.monotonicMs()
    positions = source.positions()
    const changed = [...dirty].flatMap((text) => retell(parseKey(text)) ?? [])
    const happened = events.map(messageOfEvent)
    dirty.clear()
    events = []
    if (changed.length + happened.length === 0) return
    const update = { positions, messages: [...changed, ...happened] }
    for (const reader of readers) reader(update)
  }

  /** @returns the message about a Rollout; undefined if it has not changed */
  function retell(key: ObjectKey): HubMessage | undefined {
    const text = keyText(key)
    const before = sent.get(text)
    const rollout = source.summary(key)
    if (rollout === undefined) {
      // Also records Rollouts that were never published here: another replica may have published them.
      const message = { key, line: lineOf({ type: 'gone', ...key }) }
      sent.delete(text)
      gone.push({ positions, message })
      if (gone.length > GONE_MAX) goneSince = gone.shift()!.positions
      return before === undefined ? undefined : message
    }
    const line = lineOf({ type: 'rollout', rollout })
    const isUnchanged = before?.message.line === line
    const message = isUnchanged ? before.message : { key: { namespace: key.namespace, name: key.name }, line }
    // Advances positions also if unchanged: another replica may have published a state in between.
    sent.set(text, { positions, message })
    return isUnchanged ? undefined : message
  }

  return {
    get positions() {
      return positions
    },
    namespaces() {
      const left = gone.map(({ message }) => message.key.namespace)
      return new Set([
        ...source.keys().map(({ namespace }) => namespace),
        ...[...sent.values()].map(({ message }) => message.key.namespace),
        ...left,
      ])
    },
    snapshot: () => ({ positions, messages: Array.from(sent.values(), ({ message }) => message) }),
    since(known) {
      // Only the watch of Rollouts, which is the first, reports deletions.
      if (isBeyond(goneSince.slice(0, 1), known)) return null
      const missed = (one: { readonly positions: Positions }): boolean => isBeyond(one.positions, known)
      const left = gone.filter((one) => missed(one) && !sent.has(keyText(one.message.key)))
      const changed = [...sent.values()].filter(missed)
      const happened = source.events().filter((event) => isAfter(event, known))
      return {
        positions,
        messages: [...left.map(({ message }) => message), ...changed.map(({ message }) => message), ...happened.map(messageOfEvent)],
      }
    },
    subscribe(reader) {
      readers.add(reader)
      return () => void readers.delete(reader)
    },
    close() {
      unsubscribe()
      timer?.cancel()
      readers.clear()
    },
  }
}

interface SentMessage {
  /** Positions of the watches when it was published. */
  readonly positions: Positions
  readonly message: HubMessage
}

type Gone = SentMessage

function messageOfEvent({ key, event }: StreamedEvent): HubMessage {
  return { key, line: lineOf({ type: 'event', namespace: key.namespace, event }) }
}

/** Whether an event is newer than `known`, whose last position is that of the event watch; true if unknown. */
function isAfter({ resourceVersion }: StreamedEvent, known: Positions): boolean {
  return compareResourceVersions(resourceVersion, known.at(-1) || '0') > 0
}
