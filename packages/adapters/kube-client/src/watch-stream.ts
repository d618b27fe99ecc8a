import type { Clock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { bodyText, type Exchange, type WireRequest, type WireResponse } from '@tranche/wire'
import { abortable, type LinkedAbort, linkAbort, withinDeadline } from './exchange/abortable.ts'
import { attemptName, deadlineErrorOf, unreachable } from './exchange/call.ts'
import { statusErrorOf, toStatusError } from './exchange/kube-status-error.ts'
import { createLineSplitter } from './exchange/line-splitter.ts'
import type { ParseJson } from './parse-json.ts'

/** Watch event, in the order of the changes on the server. */
export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** Everything up to this version has been sent. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string }

/** Dependencies of {@link openWatch}. */
export interface WatchPorts<T> {
  readonly exchange: Exchange
  readonly clock: Clock
  readonly parse: ParseJson
  /** Returns what is yielded of each object. */
  readonly received: (object: unknown) => T
}

/** Limits of a watch. */
export interface WatchLimits {
  /** Limit from the request to the status line, in milliseconds. */
  readonly deadlineMs: number
  /** Time without any byte after which the connection counts as dead, in milliseconds. */
  readonly idleTimeoutMs: number
  readonly signal: AbortSignal | undefined
}

/**
 * Opens a watch and yields its events until the server ends it. Leaving the loop closes the connection.
 *
 * @throws {KubeStatusError} the server refused, or sent an ERROR event (410: the version is too old)
 * @throws {AppError} API_UNREACHABLE if the connection broke, API_DEADLINE if it fell silent
 * @throws the signal's reason when it aborts
 */
export async function* openWatch<T>(
  ports: WatchPorts<T>,
  request: WireRequest,
  limits: WatchLimits,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const abort = linkAbort(limits.signal)
  const idle = createIdleTimer(ports.clock, limits.idleTimeoutMs, () => abort.abort(silenceError(request, limits.idleTimeoutMs)))
  try {
    const response = await connect(ports, request, limits, abort)
    idle.start()
    yield* readEvents<T>({ ...ports, response, request }, abort.signal, () => idle.touch())
  } catch (error) {
    throw abort.signal.aborted ? abort.signal.reason : unreachable(attemptName(request), error)
  } finally {
    idle.stop()
    abort.release()
    // Ends the exchange if it has not ended by itself.
    abort.abort(new Error('the watch was closed'))
  }
}

async function connect(
  ports: Pick<WatchPorts<unknown>, 'exchange' | 'clock'>,
  request: WireRequest,
  limits: WatchLimits,
  abort: LinkedAbort,
): Promise<WireResponse> {
  const deadlineError = (): AppError => deadlineErrorOf(request, limits.deadlineMs)
  const timing = { clock: ports.clock, deadlineMs: limits.deadlineMs, signal: abort.signal, deadlineError }
  return withinDeadline(timing, async () => {
    // The exchange gets the signal of the whole watch, which also aborts on failure: the deadline's signal ends with the status line.
    const response = await ports.exchange(request, abort.signal)
    if (response.status < 200 || response.status > 299) {
      throw toStatusError(attemptName(request), response.status, await bodyText(response), response.headers['retry-after'])
    }
    return response
  })
}

interface OpenedWatch<T> extends Pick<WatchPorts<T>, 'parse' | 'received'> {
  readonly response: WireResponse
  readonly request: WireRequest
}

async function* readEvents<T>(
  opened: OpenedWatch<T>,
  signal: AbortSignal,
  onByte: () => void,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const chunks = opened.response.body[Symbol.asyncIterator]()
  const splitter = createLineSplitter()
  try {
    for (;;) {
      const chunk = await abortable(chunks.next(), signal)
      if (chunk.done) break
      onByte()
      for (const line of splitter.push(chunk.value)) yield toEvent(line, opened)
    }
  } finally {
    // Not awaited: return() may never settle on a stream that hangs in next().
    chunks.return?.().then(undefined, () => {})
  }
  if (splitter.rest() !== '') throw new Error('the stream ended within an event')
}

interface WireEvent {
  readonly type: string
  readonly object: { readonly metadata?: { readonly resourceVersion?: string } }
}

function toEvent<T>(line: string, { request, parse, received }: OpenedWatch<T>): WatchEvent<T> {
  const event = parseEvent(line, parse)
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type: event.type, object: received(event.object) }
    case 'BOOKMARK':
      return { type: 'BOOKMARK', resourceVersion: event.object.metadata?.resourceVersion ?? '' }
    case 'ERROR':
      throw statusErrorOf(attemptName(request), event.object, 500)
    default:
      throw new Error(`the server sent an event of unknown type ${JSON.stringify(event.type)}`)
  }
}

/** @throws {Error} that quotes nothing of the line */
function parseEvent(line: string, parse: ParseJson): WireEvent {
  try {
    return parse(line) as WireEvent
  } catch {
    throw new Error('the server sent an event that is not JSON')
  }
}

function silenceError(request: WireRequest, idleTimeoutMs: number): AppError {
  return new AppError('API_DEADLINE', `${attemptName(request)} sent nothing for ${idleTimeoutMs} ms`, {
    details: { attempt: attemptName(request), idleTimeoutMs },
  })
}

interface IdleTimer {
  start(): void
  /** Resets the idle timeout. Costs one clock reading; the timer itself is set once per idle period. */
  touch(): void
  stop(): void
}

function createIdleTimer(clock: Clock, idleMs: number, onIdle: () => void): IdleTimer {
  let lastMs = 0
  let timer: { cancel(): void } | undefined
  const arm = (delayMs: number): void => {
    timer = clock.setTimer(delayMs, () => {
      const leftMs = lastMs + idleMs - clock.monotonicMs()
      if (leftMs > 0) arm(leftMs)
      else onIdle()
    })
  }
  const touch = (): void => void (lastMs = clock.monotonicMs())
  return { start: () => arm(idleMs), touch, stop: () => timer?.cancel() }
}
