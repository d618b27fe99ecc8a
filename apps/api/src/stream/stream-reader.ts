import type { Clock, Timer } from '@tranche/clock'
import type { ObjectKey } from '@tranche/kube-types'
import { type Positions, toEventId } from './positions.ts'
import { type HubMessage, type HubUpdate, lineOf, type StreamHub } from './stream-hub.ts'

/** Connection of a reader. */
export interface ReaderSink {
  /** @returns false if the buffer is full; then `drained` is called when it has space again */
  write(text: string): boolean
  /** Closes the connection; `cut`: without a graceful end, because the client does not read. */
  close(how: 'end' | 'cut'): void
}

/** Dependencies of {@link createStreamReader}. */
export interface ReaderParts {
  readonly hub: StreamHub
  readonly sink: ReaderSink
  readonly clock: Clock
  /** Positions that the reader already has, with unchanged rights; null: none. */
  readonly known: Positions | null
  /** Whether the reader may see the Rollout, by the last known rights. */
  readonly mayRead: (key: ObjectKey) => boolean
  /** Digest of the reader's rights; part of event ids. */
  readonly digest: string
  /** Time without reading after which the reader is disconnected, in milliseconds. */
  readonly patienceMs: number
}

/** A message to one reader. */
export interface ReaderMessage extends Omit<HubMessage, 'key'> {
  /** Null for messages that are sent regardless of rights. */
  readonly key: ObjectKey | null
}

/** Sends changes to one connection. */
export interface StreamReader {
  /** To be called when the connection has buffer space again. */
  drained(): void
  /** Sends a comment line with the current id, unless messages are pending. */
  heartbeat(): void
  /** Sends messages first after a change of rights, and drops pending messages that the reader may no longer see. */
  push(messages: readonly ReaderMessage[], digest: string): void
  close(): void
}

/** Maximum size of one write, in characters. */
const SLICE = 65_536

/**
 * Sends changes to one reader. While the connection is blocked, nothing is queued for it; afterwards it gets the current state of each
 * Rollout that it missed. So a slow reader needs a bounded amount of memory. A reader that does not read at all is disconnected.
 *
 * Rights are checked when a message is sent, also for pending messages.
 *
 * An id is sent only after everything before it: a client that resumes from it with the same rights misses nothing.
 */
export function createStreamReader({ hub, sink, clock, known, mayRead, patienceMs, ...parts }: ReaderParts): StreamReader {
  /** Messages of the current update that are not written yet. */
  let left: readonly ReaderMessage[] = []
  let { digest } = parts
  /** Positions of the reader once `left` is written. */
  let position = known
  let isBehind = false
  let isClosed = false
  let patience: Timer | undefined

  function onUpdate(update: HubUpdate): void {
    if (left.length > 0 || patience !== undefined) isBehind = true
    else begin(update)
  }

  function begin({ positions, messages }: HubUpdate, first: readonly ReaderMessage[] = []): void {
    left = [...first, ...allowed(messages)]
    position = positions
    pump()
  }

  function allowed(messages: readonly ReaderMessage[]): readonly ReaderMessage[] {
    return messages.filter(({ key }) => key === null || mayRead(key))
  }

  function pump(): void {
    while (patience === undefined && left.length > 0) write(nextSlice())
    if (patience === undefined && isBehind) catchUp()
  }

  function nextSlice(): string {
    let text = ''
    let count = 0
    while (count < left.length && text.length < SLICE) {
      const isLast = count === left.length - 1 && position !== null
      text += `${isLast ? idLine(position!) : ''}${left[count]!.line}\n\n`
      count += 1
    }
    left = left.slice(count)
    return text
  }

  function idLine(positions: Positions): string {
    return `id: ${toEventId({ digest, positions })}\n`
  }

  function write(text: string): void {
    if (sink.write(text)) return
    patience = clock.setTimer(patienceMs, () => {
      close()
      sink.close('cut')
    })
  }

  function catchUp(): void {
    isBehind = false
    const missed = position === null ? null : hub.since(position)
    if (missed === null) begin(hub.snapshot(), [{ key: null, line: lineOf({ type: 'reset' }) }])
    else begin(missed)
  }

  function close(): void {
    isClosed = true
    unsubscribe()
    patience?.cancel()
    left = []
  }

  const unsubscribe = hub.subscribe(onUpdate)
  catchUp()
  return {
    drained() {
      patience?.cancel()
      patience = undefined
      if (!isClosed) pump()
    },
    heartbeat() {
      if (left.length > 0 || patience !== undefined) return
      write(`: alive\n${position === null ? '' : idLine(position)}\n`)
    },
    push(messages, digestNow) {
      digest = digestNow
      left = [...messages, ...allowed(left)]
      if (patience === undefined) pump()
    },
    close,
  }
}
