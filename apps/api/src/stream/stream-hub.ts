import type { EventReport, StreamMessage } from '@tranche/api-schema'
import type { Clock, Timer } from '@tranche/clock'
import { compareResourceVersions, keyText, type ObjectKey, parseKey } from '@tranche/kube-types'
import type { ReleaseReads } from '../release-reads.ts'
import { isBeyond, type Positions } from './positions.ts'

/** An event of the cluster about a Rollout. */
export interface StreamedEvent {
  /** Of the Rollout. */
  readonly key: ObjectKey
  readonly event: EventReport
  readonly resourceVersion: string
}

/** Where changes come from. */
export interface StreamSource extends Pick<ReleaseReads, 'keys' | 'summary'> {
  positions(): Positions
  /** Resolves once every watch has seen as much; rejects with the signal's reason. */
  whenReached(positions: Positions, signal: AbortSignal): Promise<void>
  /** Those that the cluster still holds, oldest first. */
  events(): readonly StreamedEvent[]
  /** @param changed hears which Rollout may look otherwise now; null: any. @returns ends the subscription */
  subscribe(changed: (key: ObjectKey | null) => void, happened: (event: StreamedEvent) => void): () => void
}

/** One message, written once for all readers. */
export interface HubMessage {
  /** Of the Rollout that it is about. */
  readonly key: ObjectKey
  /** A line of the stream: `data: {…}`. */
  readonly line: string
}

/** What has changed, as one: whoever has all of it knows everything up to `positions`. */
export interface HubUpdate {
  readonly positions: Positions
  readonly messages: readonly HubMessage[]
}

/** Tells changes of Rollouts to any number of readers. */
export interface StreamHub {
  readonly positions: Positions
  /** Every Rollout, as it was told last. */
  snapshot(): HubUpdate
  /** Of every Rollout that somebody may know, or know no better than that it is there. */
  namespaces(): ReadonlySet<string>
  /** What somebody lacks who knows everything up to `positions`; null where that is no longer known. */
  since(positions: Positions): HubUpdate | null
  /** @returns ends the subscription */
  subscribe(reader: (update: HubUpdate) => void): () => void
  close(): void
}

/** Changes that come within so many milliseconds are told together. */
const GATHER_MS = 10
/** Updates are at least so many milliseconds apart. */
const APART_MS = 100
/** Deletions that are remembered for those who were away. */
const GONE_MAX = 1_000

/** @returns the line of a message */
export function lineOf(message: StreamMessage): string {
  return `data: ${JSON.stringify(message)}`
}

/** Builds a hub over watches that have seen the cluster; it begins to look at once. */
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

  /** Positions first: what changes while we look is told again, never left out. */
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

  /** @returns what is to be told of a Rollout; undefined where it looks as before */
  function retell(key: ObjectKey): HubMessage | undefined {
    const text = keyText(key)
    const before = sent.get(text)
    const rollout = source.summary(key)
    if (rollout === undefined) {
      // Also what came and went too quickly to be told here: another replica may have told it.
      const message = { key, line: lineOf({ type: 'gone', ...key }) }
      sent.delete(text)
      gone.push({ positions, message })
      if (gone.length > GONE_MAX) goneSince = gone.shift()!.positions
      return before === undefined ? undefined : message
    }
    const line = lineOf({ type: 'rollout', rollout })
    const isUnchanged = before?.message.line === line
    const message = isUnchanged ? before.message : { key: { namespace: key.namespace, name: key.name }, line }
    // It may have looked otherwise in between, and another replica may have told that.
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
      // Only the watch of Rollouts, which is the first, tells of deletions.
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
  /** Up to where the watches had seen when it was told so. */
  readonly positions: Positions
  readonly message: HubMessage
}

type Gone = SentMessage

function messageOfEvent({ key, event }: StreamedEvent): HubMessage {
  return { key, line: lineOf({ type: 'event', namespace: key.namespace, event }) }
}

/** Watches of events come last. One that cannot be told is told again. */
function isAfter({ resourceVersion }: StreamedEvent, known: Positions): boolean {
  return compareResourceVersions(resourceVersion, known.at(-1) || '0') > 0
}
