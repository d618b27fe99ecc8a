import type { Clock } from '@tranche/clock'
import type { KubeObject } from '@tranche/kube-types'
import type { Exchange, WireRequest, WireResponse } from '@tranche/wire'

/** Objects of the fake carry one field of content. */
export interface Thing extends KubeObject {
  readonly spec: { readonly value: number }
}

/** An answer the server gives instead of the right one. */
export type Fault =
  | { readonly kind: 'status'; readonly code: number; readonly retryAfter?: string }
  | { readonly kind: 'reset' }
  | { readonly kind: 'hang' }

interface Change {
  readonly version: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: Thing
}

const BOOKMARK_EVERY_MS = 60_000

/** A scripted API server with one resource: lists in chunks of two, watches with bookmarks, and faults on demand. */
export class FakeApiServer {
  readonly requests: WireRequest[] = []
  readonly faults: Fault[] = []
  readonly objects = new Map<string, Thing>()
  /** How late each watch sends its next event, in milliseconds. */
  delayMs: () => number = () => 0
  /** Longest piece in which text is sent. */
  pieceLength = Number.POSITIVE_INFINITY
  readonly #clock: Clock
  readonly #watches = new Set<FakeWatch>()
  readonly #snapshots = new Map<string, { readonly items: readonly Thing[]; readonly version: number }>()
  #history: Change[] = []
  #version = 100
  #uids = 0
  #compactedTo = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get resourceVersion(): string {
    return String(this.#version)
  }

  get openWatches(): number {
    return this.#watches.size
  }

  readonly exchange: Exchange = async (request, signal) => {
    this.requests.push(request)
    const fault = this.faults.shift()
    if (fault?.kind === 'reset') throw new Error('socket hang up')
    if (fault?.kind === 'hang') return new Promise(() => {})
    if (fault?.kind === 'status') return statusAnswer(fault.code, fault.retryAfter)
    const url = new URL(request.path, 'http://fake')
    return url.searchParams.get('watch') === 'true' ? this.#watch(url, signal) : this.#list(url)
  }

  put(name: string, value: number): void {
    const before = this.objects.get(name)
    const version = ++this.#version
    const uid = before?.metadata.uid ?? `uid-${++this.#uids}`
    const object: Thing = { metadata: { namespace: 'default', name, uid, resourceVersion: String(version) }, spec: { value } }
    this.objects.set(name, object)
    this.#record({ version, type: before === undefined ? 'ADDED' : 'MODIFIED', object })
  }

  remove(name: string): void {
    const before = this.objects.get(name)
    if (before === undefined) return
    const version = ++this.#version
    this.objects.delete(name)
    this.#record({ version, type: 'DELETED', object: { ...before, metadata: { ...before.metadata, resourceVersion: String(version) } } })
  }

  /** Recreates an object, and reports only a modification. */
  swap(name: string, value: number): void {
    this.objects.delete(name)
    const watches = [...this.#watches]
    this.#watches.clear()
    this.put(name, value)
    for (const watch of watches) this.#watches.add(watch)
    this.#history.pop()
    this.#record({ version: this.#version, type: 'MODIFIED', object: this.objects.get(name)! })
  }

  /** Sends an event of a version that lies before what was sent already. */
  sendLate(name: string, value: number, version: number): void {
    const before = this.objects.get(name)!
    const object: Thing = { metadata: { ...before.metadata, resourceVersion: String(version) }, spec: { value } }
    this.objects.set(name, object)
    for (const watch of this.#watches) this.#sendLater(watch, { version, type: 'MODIFIED', object })
  }

  /** Comes back from a backup: empty, and at an older version than it was. */
  setBack(): void {
    this.#version = 10
    this.#history = []
    this.#compactedTo = 0
    this.objects.clear()
    this.resetWatches()
  }

  /** Drops all history: a request with an older version gets 410. Open watches continue. */
  compact(): void {
    this.#version++
    this.#compactedTo = this.#version
    this.#history = []
    this.#snapshots.clear()
  }

  resetWatches(): void {
    for (const watch of this.#watches) watch.close(new Error('read ECONNRESET'))
  }

  endWatches(): void {
    for (const watch of this.#watches) watch.close()
  }

  /** The connections stay open, and nothing comes through any more. */
  stallWatches(): void {
    for (const watch of this.#watches) watch.stalled = true
  }

  sendError(code: number): void {
    for (const watch of this.#watches) {
      watch.send(`${JSON.stringify({ type: 'ERROR', object: statusBody(code) })}\n`)
      watch.close()
    }
  }

  /** Breaks every connection in the middle of an event. */
  cutWatches(): void {
    for (const watch of this.#watches) {
      watch.send('{"type":"MODIFIED","obj')
      watch.close()
    }
  }

  #record(change: Change): void {
    this.#history.push(change)
    for (const watch of this.#watches) this.#sendLater(watch, change)
  }

  #sendLater(watch: FakeWatch, change: Change): void {
    const nowMs = this.#clock.monotonicMs()
    watch.dueMs = Math.max(watch.dueMs, nowMs + this.delayMs())
    this.#clock.setTimer(watch.dueMs - nowMs, () =>
      this.#sendPieces(watch, `${JSON.stringify({ type: change.type, object: change.object })}\n`),
    )
  }

  #sendPieces(watch: FakeWatch, text: string): void {
    for (let at = 0; at < text.length; at += this.pieceLength) watch.send(text.slice(at, at + this.pieceLength))
  }

  #list(url: URL): WireResponse {
    const token = url.searchParams.get('continue') ?? ''
    const [id = '', offset = '0'] = token.split('.')
    const snapshot = token === '' ? { items: [...this.objects.values()], version: this.#version } : this.#snapshots.get(id)
    if (snapshot === undefined) return statusAnswer(410)
    const start = Number(offset)
    const end = url.searchParams.has('limit') ? start + 2 : snapshot.items.length
    const snapshotId = id === '' ? `s${this.requests.length}` : id
    this.#snapshots.set(snapshotId, snapshot)
    const more = end < snapshot.items.length ? { continue: `${snapshotId}.${end}` } : {}
    return answer(200, { metadata: { resourceVersion: String(snapshot.version), ...more }, items: snapshot.items.slice(start, end) })
  }

  #watch(url: URL, signal: AbortSignal): WireResponse {
    const from = Number(url.searchParams.get('resourceVersion'))
    if (from < this.#compactedTo) return statusAnswer(410)
    const watch = new FakeWatch()
    this.#watches.add(watch)
    watch.onClose = () => this.#watches.delete(watch)
    signal.addEventListener('abort', () => watch.close(signal.reason as Error), { once: true })
    for (const change of this.#history) if (change.version > from) this.#sendLater(watch, change)
    this.#bookmarkLater(watch)
    return { status: 200, headers: {}, body: watch }
  }

  #bookmarkLater(watch: FakeWatch): void {
    this.#clock.setTimer(BOOKMARK_EVERY_MS, () => {
      if (watch.closed) return
      const upTo = watch.dueMs > this.#clock.monotonicMs() ? null : this.#version
      if (upTo !== null) watch.send(`${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(upTo) } } })}\n`)
      this.#bookmarkLater(watch)
    })
  }
}

/** The sending end of a body. */
class FakeWatch implements AsyncIterable<string> {
  stalled = false
  closed = false
  dueMs = 0
  onClose: () => void = () => {}
  readonly #chunks: string[] = []
  #error: Error | undefined
  #wake: () => void = () => {}

  send(chunk: string): void {
    if (this.stalled || this.closed) return
    this.#chunks.push(chunk)
    this.#wake()
  }

  close(error?: Error): void {
    if (this.closed) return
    this.closed = true
    this.#error = error
    this.onClose()
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string, void, undefined> {
    for (;;) {
      const chunk = this.#chunks.shift()
      if (chunk !== undefined) yield chunk
      else if (this.closed && this.#error !== undefined) throw this.#error
      else if (this.closed) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}

/** @returns a whole answer with a JSON body */
export function answer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): WireResponse {
  return { status, headers, body: pieces([JSON.stringify(body)]) }
}

/** @returns an answer whose body comes in these pieces */
export function answerPieces(status: number, texts: readonly string[]): WireResponse {
  return { status, headers: {}, body: pieces(texts) }
}

function statusAnswer(code: number, retryAfter?: string): WireResponse {
  return answer(code, statusBody(code), retryAfter === undefined ? {} : { 'retry-after': retryAfter })
}

function statusBody(code: number): object {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason: `Reason${code}`, message: `because ${code}` }
}

async function* pieces(texts: readonly string[]): AsyncGenerator<string, void, undefined> {
  yield* texts
}
