import type { Clock, Timer } from '@tranche/clock'
import type { ObjectKey } from '@tranche/kube-types'
import { type Positions, toEventId } from './positions.ts'
import type { NodeCursor } from './node-cursor.ts'
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
  /** Nodes that the reader gets too; undefined without them. */
  readonly nodes?: NodeCursor | undefined
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
  /** Sends the nodes that have changed, unless the connection is blocked; then they follow when it is not. */
  nodesChanged(): void
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
 * Rights are checked when a message is sent, also for pending messages. Nodes are sent after everything else.
 *
 * An id is sent only after everything before it: a client that resumes from it with the same rights misses nothing.
 */
export function createStreamReader(parts: ReaderParts): StreamReader {
  return new BoundedReader(parts)
}

class BoundedReader implements StreamReader {
  readonly #parts: ReaderParts
  readonly #unsubscribe: () => void
  /** Messages of the current update that are not written yet. */
  #left: readonly ReaderMessage[] = []
  #digest: string
  /** Positions of the reader once {@link #left} is written. */
  #position: Positions | null
  /** Whether it missed updates while it was blocked. */
  #isBehind = false
  #isClosed = false
  /** Runs while the connection is blocked. */
  #patience: Timer | undefined

  constructor(parts: ReaderParts) {
    this.#parts = parts
    this.#digest = parts.digest
    this.#position = parts.known
    this.#unsubscribe = parts.hub.subscribe((update) => this.#onUpdate(update))
    this.#catchUp()
    // A resumed stream without changes confirms at once that nothing is missing.
    if (parts.known !== null) this.heartbeat()
  }

  drained(): void {
    this.#patience?.cancel()
    this.#patience = undefined
    if (!this.#isClosed) this.#pump()
  }

  heartbeat(): void {
    if (this.#left.length > 0 || this.#patience !== undefined) return
    this.#write(`: alive\n${this.#position === null ? '' : this.#idLine(this.#position)}\n`)
  }

  nodesChanged(): void {
    if (!this.#isClosed) this.#pump()
  }

  push(messages: readonly ReaderMessage[], digest: string): void {
    this.#digest = digest
    this.#left = [...messages, ...this.#allowed(this.#left)]
    if (this.#patience === undefined) this.#pump()
  }

  close(): void {
    this.#isClosed = true
    this.#unsubscribe()
    this.#patience?.cancel()
    this.#left = []
  }

  #onUpdate(update: HubUpdate): void {
    if (this.#left.length > 0 || this.#patience !== undefined) this.#isBehind = true
    else this.#begin(update)
  }

  #begin({ positions, messages }: HubUpdate, first: readonly ReaderMessage[] = []): void {
    this.#left = [...first, ...this.#allowed(messages)]
    this.#position = positions
    this.#pump()
  }

  #allowed(messages: readonly ReaderMessage[]): readonly ReaderMessage[] {
    return messages.filter(({ key }) => key === null || this.#parts.mayRead(key))
  }

  #pump(): void {
    while (this.#patience === undefined && this.#left.length > 0) this.#write(this.#nextSlice())
    if (this.#patience === undefined && this.#isBehind) this.#catchUp()
    this.#pumpNodes()
  }

  #pumpNodes(): void {
    while (this.#patience === undefined && !this.#isClosed) {
      const line = this.#parts.nodes?.next()
      if (line === undefined) return
      this.#write(`${line}\n\n`)
    }
  }

  #nextSlice(): string {
    let text = ''
    let count = 0
    while (count < this.#left.length && text.length < SLICE) {
      const isLast = count === this.#left.length - 1 && this.#position !== null
      text += `${isLast ? this.#idLine(this.#position!) : ''}${this.#left[count]!.line}\n\n`
      count += 1
    }
    this.#left = this.#left.slice(count)
    return text
  }

  #idLine(positions: Positions): string {
    return `id: ${toEventId({ digest: this.#digest, positions })}\n`
  }

  #write(text: string): void {
    const { sink, clock, patienceMs } = this.#parts
    if (sink.write(text)) return
    this.#patience = clock.setTimer(patienceMs, () => {
      this.close()
      sink.close('cut')
    })
  }

  #catchUp(): void {
    const { hub } = this.#parts
    this.#isBehind = false
    const missed = this.#position === null ? null : hub.since(this.#position)
    if (missed === null) this.#begin(hub.snapshot(), [{ key: null, line: lineOf({ type: 'reset' }) }])
    else this.#begin(missed)
  }
}
