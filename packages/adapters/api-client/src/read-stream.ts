import { type StreamMessage, streamMessageSchema } from '@tranche/api-schema'
import { sleep, type Timer } from '@tranche/clock'
import { ApiProblemError } from './api-problem-error.ts'
import { createEventParser } from './event-stream.ts'
import { type ApiRequest, type RestConnection, open } from './send.ts'

/** Place in a stream, which its reader advances. */
export interface StreamPosition {
  /** Id of the last event; empty if nothing complete has arrived, so that a stream from here begins with a `reset`. */
  lastEventId: string
}

/** Options for reading a stream. */
export interface StreamOptions {
  readonly signal: AbortSignal
  /**
   * Place from which the stream resumes, and which it advances. After this stream, another one with the same `namespace` and `name` may
   * resume from it, with the same messages applied to the same state. @default the beginning
   */
  readonly position?: StreamPosition
  /**
   * Time without any byte after which the stream counts as dead, in milliseconds; the server sends a heartbeat every 15 s. @default 45000
   */
  readonly idleMs?: number
  /** Called each time the stream is lost, with the cause. */
  readonly onLost?: (error: unknown) => void
  /** Called each time the server has accepted the request, before the first message. */
  readonly onOpen?: () => void
  /** Called after the last message of a group: once the state is complete, and after each change. */
  readonly onComplete?: () => void
  /** Called when the server confirms that it has sent everything up to now: after each group, and with each heartbeat. */
  readonly onCurrent?: () => void
}

const DEFAULT_IDLE_MS = 45_000
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 30_000

/**
 * Reads a stream until the caller ends it. Leaving the loop closes it.
 *
 * A lost stream is reopened with the id of the last event (`Last-Event-ID`), after a wait that doubles up to half a minute. The server
 * sends the messages since then, or starts over with a `reset`. Messages of unknown kinds are left out.
 *
 * @throws {ApiProblemError} for permanent errors: 4xx except 408 and 429; the signal's reason when it aborts
 */
export async function* readStream(
  connection: RestConnection,
  request: ApiRequest,
  options: StreamOptions,
): AsyncGenerator<StreamMessage, void, undefined> {
  const state = { position: options.position ?? { lastEventId: '' }, waitMs: FIRST_WAIT_MS }
  for (;;) {
    try {
      yield* readOnce(connection, withLastId(request, state.position.lastEventId), options, state)
    } catch (error) {
      if (options.signal.aborted || isFinal(error)) throw error
      options.onLost?.(error)
    }
    await sleep(connection.clock, state.waitMs, options.signal)
    state.waitMs = Math.min(state.waitMs * 2, LONGEST_WAIT_MS)
  }
}

interface StreamState {
  readonly position: StreamPosition
  /** Wait before the next attempt, in milliseconds; received data resets it. */
  waitMs: number
}

function withLastId(request: ApiRequest, lastId: string): ApiRequest {
  const accept = { accept: 'text/event-stream' }
  return { ...request, headers: lastId === '' ? accept : { ...accept, 'last-event-id': lastId } }
}

function isFinal(error: unknown): boolean {
  return error instanceof ApiProblemError && error.status >= 300 && error.status < 500 && error.status !== 408 && error.status !== 429
}

async function* readOnce(
  connection: RestConnection,
  request: ApiRequest,
  { signal, idleMs = DEFAULT_IDLE_MS, onOpen, onComplete, onCurrent }: StreamOptions,
  state: StreamState,
): AsyncGenerator<StreamMessage, void, undefined> {
  const lost = new AbortController()
  const both = AbortSignal.any([signal, lost.signal])
  const watch = createSilenceWatch(connection.clock, idleMs, () => lost.abort(new Error(`the stream sent nothing for ${idleMs} ms`)))
  try {
    const { body } = await open(connection, request, both)
    onOpen?.()
    const { position } = state
    const parser = createEventParser(position.lastEventId)
    const decoder = new TextDecoder()
    for await (const bytes of chunksOf(body, both)) {
      watch.heard()
      const { marks } = parser
      let isResetting = false
      for (const { data, id, isMark, retryMs } of parser.push(decoder.decode(bytes, { stream: true }))) {
        // Another stream may already resume from the position.
        signal.throwIfAborted()
        state.waitMs = retryMs ?? FIRST_WAIT_MS
        const message = messageOf(data)
        // The old state is gone, and the new one is not complete: there is nothing to resume from until the next id.
        if (message?.type === 'reset') {
          position.lastEventId = ''
          isResetting = true
        }
        if (message !== undefined) yield message
        signal.throwIfAborted()
        if (!isMark) continue
        position.lastEventId = id
        isResetting = false
        onComplete?.()
      }
      if (parser.marks === marks || isResetting) continue
      position.lastEventId = parser.lastId
      onCurrent?.()
    }
  } finally {
    watch.stop()
    // Ends the request if it has not ended by itself.
    lost.abort(new Error('the stream was closed'))
  }
}

/**
 * Leaves a hanging body when the signal aborts, even if the body does not listen. Releases each chunk once yielded: streams live for days.
 */
async function* chunksOf(
  body: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  if (body === null) return
  let leave: (reason: unknown) => void = () => {}
  signal.addEventListener('abort', () => leave(signal.reason), { once: true })
  const chunks = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  for (;;) {
    signal.throwIfAborted()
    const chunk = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
      leave = reject
      chunks.next().then(resolve, reject)
    })
    if (chunk.done === true) return
    yield chunk.value
  }
}

function messageOf(data: string): StreamMessage | undefined {
  try {
    return streamMessageSchema.safeParse(JSON.parse(data)).data
  } catch {
    return undefined
  }
}

/** Sets one timer per silence, not per chunk. */
function createSilenceWatch(clock: RestConnection['clock'], idleMs: number, onSilence: () => void): { heard(): void; stop(): void } {
  let lastMs = clock.monotonicMs()
  let timer: Timer
  const arm = (delayMs: number): void => {
    timer = clock.setTimer(delayMs, () => {
      const leftMs = lastMs + idleMs - clock.monotonicMs()
      if (leftMs > 0) arm(leftMs)
      else onSilence()
    })
  }
  arm(idleMs)
  return { heard: () => void (lastMs = clock.monotonicMs()), stop: () => timer.cancel() }
}
