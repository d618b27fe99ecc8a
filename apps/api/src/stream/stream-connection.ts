import type { Clock, Timer } from '@tranche/clock'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import type { FastifyReply } from 'fastify'
import type { Limits } from '../limits/limits.ts'
import { createNodeCursor } from './node-cursor.ts'
import type { NodeFeeds, OpenFeed } from './node-feeds.ts'
import type { Positions } from './positions.ts'
import { lineOf, type StreamHub } from './stream-hub.ts'
import { createStreamReader, type ReaderMessage, type StreamReader } from './stream-reader.ts'
import type { StreamRights } from './stream-rights.ts'

/** Dependencies of {@link openStreamConnection}. */
export interface StreamConnectionParts {
  readonly hub: StreamHub
  /** Rights of the client when the connection opens. */
  readonly rights: StreamRights
  /** Positions that the client already has, with unchanged rights; null: none. */
  readonly known: Positions | null
  readonly reply: FastifyReply
  /** Rollout whose nodes are streamed too, and the feeds of nodes; undefined without nodes. */
  readonly nodes?: { readonly key: ObjectKey; readonly feeds: NodeFeeds } | undefined
  readonly clock: Clock
  readonly limits: Pick<Limits, 'streamPatienceMs' | 'heartbeatMs'>
  readonly onStream?: (what: 'opened' | 'closed' | 'cut') => void
}

/** An open stream of server-sent events. */
export interface StreamConnection {
  readonly closed: Promise<void>
  /** `cut`: without a graceful end, because the client does not read. */
  end(how: 'end' | 'cut'): void
}

/** Interval at which the rights of an open stream are checked again, in milliseconds. */
const RECHECK_MS = 10_000

/**
 * Takes the reply over from Fastify and streams the hub's changes to it. Checks the client's rights every 10 seconds, and at once when a
 * Rollout appears in a namespace without known rights. Ends the stream if the rights cannot be checked.
 */
export function openStreamConnection(parts: StreamConnectionParts): StreamConnection {
  return new EventStream(parts)
}

class EventStream implements StreamConnection {
  readonly #parts: StreamConnectionParts
  readonly #reader: StreamReader
  readonly #openFeed: OpenFeed | undefined
  readonly #closed = Promise.withResolvers<void>()
  readonly #timers = new Set<Timer>()
  /** Namespaces, and DaemonSets, without rights whose rights were checked since the last interval. */
  readonly #unseen = new Set<string>()
  #isClosed = false
  #isChecking = false

  constructor(parts: StreamConnectionParts) {
    const { hub, clock, known, rights, limits, reply, nodes } = parts
    this.#parts = parts
    // First: if the nodes cannot be read, the client gets an error, and no stream.
    this.#openFeed = nodes?.feeds.open(nodes.key, () => this.#reader.nodesChanged())
    this.#begin()
    this.#reader = createStreamReader({
      hub,
      clock,
      known,
      digest: rights.digest,
      patienceMs: limits.streamPatienceMs,
      sink: { write: (text) => reply.raw.write(text), close: (how) => this.end(how) },
      mayRead: (key) => this.#mayRead(key),
      nodes: this.#openFeed && createNodeCursor(this.#openFeed.feed, (unbound) => this.#mayReadNodes(unbound)),
    })
    reply.raw.on('drain', () => this.#reader.drained())
    this.#every(limits.heartbeatMs, () => this.#reader.heartbeat())
    this.#every(RECHECK_MS, () => {
      this.#unseen.clear()
      void this.#recheck()
    })
    // The client may have disconnected while its rights were checked.
    if (reply.raw.destroyed) this.#close()
  }

  get closed(): Promise<void> {
    return this.#closed.promise
  }

  end(how: 'end' | 'cut'): void {
    const { reply, onStream } = this.#parts
    if (how === 'cut') onStream?.('cut')
    if (how === 'cut') reply.raw.destroy()
    else this.#endPolitely()
    this.#close()
  }

  /** Writes the head of the response. */
  #begin(): void {
    const { reply, onStream } = this.#parts
    reply.hijack()
    const headers = { ...reply.getHeaders(), 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' }
    reply.raw.writeHead(200, headers as Record<string, string>)
    reply.raw.write('retry: 2000\n\n')
    reply.raw.on('error', () => {})
    reply.raw.once('close', () => this.#close())
    onStream?.('opened')
  }

  /** Destroys the connection after `streamPatienceMs`: a client that does not read would not notice the end. */
  #endPolitely(): void {
    const { clock, limits, reply } = this.#parts
    const patience = clock.setTimer(limits.streamPatienceMs, () => reply.raw.destroy())
    reply.raw.once('close', () => patience.cancel())
    reply.raw.end()
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const timer of this.#timers) timer.cancel()
    this.#reader.close()
    this.#openFeed?.close()
    this.#parts.onStream?.('closed')
    this.#closed.resolve()
  }

  #every(ms: number, act: () => void): void {
    const timer = this.#parts.clock.setTimer(ms, () => {
      this.#timers.delete(timer)
      act()
      if (!this.#isClosed) this.#every(ms, act)
    })
    this.#timers.add(timer)
  }

  #mayRead(key: ObjectKey): boolean {
    if (this.#parts.rights.mayRead(key)) return true
    // A namespace that had no Rollout before: its rights are checked at once, not at the next interval.
    if (!this.#unseen.has(key.namespace)) void this.#recheck()
    this.#unseen.add(key.namespace)
    return false
  }

  #mayReadNodes(unbound: ObjectKey | undefined): boolean {
    if (this.#parts.rights.mayReadNodes(unbound)) return true
    // A DaemonSet whose rights were not checked: the Rollout has lost its DaemonSet, or names another one.
    const text = unbound === undefined ? '' : `DaemonSet ${keyText(unbound)}`
    if (!this.#unseen.has(text)) void this.#recheck()
    this.#unseen.add(text)
    return false
  }

  async #recheck(): Promise<void> {
    const { hub, rights } = this.#parts
    if (this.#isChecking) return
    this.#isChecking = true
    const change = await rights.recheck(hub.namespaces()).catch(() => null)
    this.#isChecking = false
    if (this.#isClosed) return
    if (change === null) return this.end('end')
    this.#reader.push(messagesFor(hub, rights, change), rights.digest)
  }
}

type Change = NonNullable<Awaited<ReturnType<StreamRights['recheck']>>>

function messagesFor(hub: StreamHub, rights: StreamRights, { gained, lost }: Change): readonly ReaderMessage[] {
  if (gained.size + lost.size === 0) return []
  return hub.snapshot().messages.flatMap((message): readonly ReaderMessage[] => {
    if (lost.has(message.key.namespace)) return [{ key: null, line: lineOf({ type: 'gone', ...message.key }) }]
    return gained.has(message.key.namespace) && rights.mayRead(message.key) ? [message] : []
  })
}
