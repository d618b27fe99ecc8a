import type { Clock, Timer } from '@tranche/clock'
import type { ObjectKey } from '@tranche/kube-types'
import { type Positions, toEventId } from './positions.ts'
import { type HubMessage, type HubUpdate, lineOf, type StreamHub } from './stream-hub.ts'

/** Where a reader is written to. */
export interface ReaderSink {
  /** @returns whether more may be written at once; else `drained` is called when it may */
  write(text: string): boolean
  /** Ends the connection; `cut`: without a word, because nobody reads. */
  close(how: 'end' | 'cut'): void
}

/** What a reader is made with. */
export interface ReaderParts {
  readonly hub: StreamHub
  readonly sink: ReaderSink
  readonly clock: Clock
  /** What the reader knows already; null: nothing. What they might see then must be what they may see now. */
  readonly known: Positions | null
  /** Whether the reader may see the Rollout, as far as is known. */
  readonly mayRead: (key: ObjectKey) => boolean
  /** Of what they may see: stands in ids. */
  readonly digest: string
  /** A reader that has not taken what was written for so long, in milliseconds, is cut off. */
  readonly patienceMs: number
}

/** One message to one reader. */
export interface ReaderMessage extends Omit<HubMessage, 'key'> {
  /** Null for what is told whatever may be seen. */
  readonly key: ObjectKey | null
}

/** One connection that is told of changes. */
export interface StreamReader {
  /** The connection takes more again. */
  drained(): void
  /** Says that the stream lives, and up to where it is known. */
  heartbeat(): void
  /** Tells something out of turn, to a reader whose rights have changed. What waits and may no longer be seen is dropped. */
  push(messages: readonly ReaderMessage[], digest: string): void
  close(): void
}

/** Written at a time, in characters: more is written once the connection takes more. */
const SLICE = 65_536

/**
 * Tells one reader of changes. While the connection takes no more nothing is kept for it: later it is told what it lacks, each
 * Rollout as it stands then. So a reader costs a bounded amount of memory, however slow it is; one that does not read at all is cut off.
 *
 * Rights count at the moment of sending, also for what has waited.
 *
 * An id stands only where everything before it was sent: whoever comes back with it, and the same rights, misses nothing.
 */
export function createStreamReader({ hub, sink, clock, known, mayRead, patienceMs, ...parts }: ReaderParts): StreamReader {
  /** What is still to be written of one update. */
  let left: readonly ReaderMessage[] = []
  let { digest } = parts
  /** Up to where the reader knows everything, once `left` is written. */
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
