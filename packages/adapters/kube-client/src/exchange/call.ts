import { type Clock, sleep } from '@tranche/clock'
import { AppError, isAppError } from '@tranche/errors'
import type { Logger } from '@tranche/telemetry'
import { bodyText, type Exchange, type WireRequest, type WireResponse } from '@tranche/wire'
import { withinDeadline } from './abortable.ts'
import { KubeStatusError, toStatusError } from './kube-status-error.ts'
import { type Backoff, backoffMs, type Random } from './seeded-random.ts'

/** Dependencies of {@link call}. */
export interface CallPorts {
  readonly exchange: Exchange
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** Request, and how to read its response. */
export interface ReadRequest<T> {
  readonly request: WireRequest
  /** Reads a successful response; restarts with each attempt. An error without a code counts as a broken connection. */
  readonly read: (response: WireResponse) => Promise<T>
}

/** Limits of one call. */
export interface CallLimits {
  /** Limit of the whole call, including retries and reading the body, in milliseconds. */
  readonly deadlineMs: number
  readonly signal: AbortSignal | undefined
}

/** Maximum number of attempts of one call, including the first. */
const MOST_ATTEMPTS = 4
const RETRY_BACKOFF: Backoff = { firstMs: 100, mostMs: 5_000 }
/** Maximum share by which a wait that the server asks for is stretched, so that clients do not return at the same time. */
const RETRY_AFTER_JITTER = 0.25

/**
 * Sends one request and returns what `read` makes of the response.
 *
 * A GET is retried on 429, 5xx and broken connections. Other requests are retried only on 429 with Retry-After, which means that the server
 * has not processed the request. 409 and 422 go to the caller at once, because only the caller can decide again. A wait that would outlast
 * the deadline is not started.
 *
 * @throws {KubeStatusError} the server returned an error
 * @throws {AppError} API_UNREACHABLE if no answer came; API_DEADLINE
 * @throws the signal's reason when it aborts
 */
export function call<T>(ports: CallPorts, { request, read }: ReadRequest<T>, limits: CallLimits): Promise<T> {
  const { clock } = ports
  const endMs = clock.monotonicMs() + limits.deadlineMs
  const deadlineError = (): AppError => deadlineErrorOf(request, limits.deadlineMs)
  return withinDeadline({ clock, deadlineMs: limits.deadlineMs, signal: limits.signal, deadlineError }, (signal) =>
    attemptUntil(ports, { request, read }, { endMs, signal }),
  )
}

/** @returns the name of a request in messages, such as `GET /api/v1/pods`, without its query */
export function attemptName(request: WireRequest): string {
  const question = request.path.indexOf('?')
  return `${request.method} ${question < 0 ? request.path : request.path.slice(0, question)}`
}

/** @returns the error for a request that was not answered in time */
export function deadlineErrorOf(request: WireRequest, deadlineMs: number): AppError {
  return new AppError('API_DEADLINE', `${attemptName(request)} was not answered within ${deadlineMs} ms`, {
    details: { attempt: attemptName(request), deadlineMs },
  })
}

/** @returns API_UNREACHABLE for a transport error; an error with a code stays as it is */
export function unreachable(attempt: string, error: unknown): AppError {
  if (isAppError(error)) return error
  return new AppError('API_UNREACHABLE', `${attempt} got no answer: ${rootMessage(error)}`, { details: { attempt }, cause: error })
}

interface Until {
  /** End of the call, in monotonic milliseconds. */
  readonly endMs: number
  readonly signal: AbortSignal
}

async function attemptUntil<T>(ports: CallPorts, asked: ReadRequest<T>, { endMs, signal }: Until): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptOnce(ports, asked, signal)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      const delayMs = attempt < MOST_ATTEMPTS ? retryDelayMs(error, asked.request.method, attempt, ports.random) : null
      if (delayMs === null || ports.clock.monotonicMs() + delayMs >= endMs) throw error
      ports.log.debug({ attempt, recheckAfterMs: delayMs, why: failureText(asked.request, error) }, 'retrying call')
      await sleep(ports.clock, delayMs, signal)
    }
  }
}

async function attemptOnce<T>(ports: CallPorts, { request, read }: ReadRequest<T>, signal: AbortSignal): Promise<T> {
  const attempt = attemptName(request)
  try {
    const response = await ports.exchange(request, signal)
    if (response.status >= 200 && response.status < 300) return await read(response)
    throw toStatusError(attempt, response.status, await bodyText(response), response.headers['retry-after'])
  } catch (error) {
    throw unreachable(attempt, error)
  }
}

/** Text of a failed attempt, without words of the server: those may quote an object, as a webhook does. */
function failureText(request: WireRequest, error: unknown): string {
  if (error instanceof KubeStatusError) return `${attemptName(request)} was answered with ${error.status}`
  return error instanceof Error ? error.message : String(error)
}

function retryDelayMs(error: unknown, method: string, attempt: number, random: Random): number | null {
  const retryAfterMs = error instanceof KubeStatusError ? error.retryAfterMs : null
  // A delete rests on what its sender has just seen (F1); only the sender can look again.
  const mayRepeat = method === 'GET' ? isPassing(error) : method !== 'DELETE' && isThrottled(error) && retryAfterMs !== null
  if (!mayRepeat) return null
  return retryAfterMs === null ? backoffMs(RETRY_BACKOFF, attempt, random) : retryAfterMs * (1 + random() * RETRY_AFTER_JITTER)
}

function isPassing(error: unknown): boolean {
  if (error instanceof KubeStatusError) return isThrottled(error) || error.status >= 500
  return isAppError(error) && error.code === 'API_UNREACHABLE'
}

function isThrottled(error: unknown): boolean {
  return error instanceof KubeStatusError && error.status === 429
}

/** Returns the root message: transport errors often hide the useful one ("connect ECONNREFUSED 127.0.0.1:6443") in their cause. */
function rootMessage(error: unknown): string {
  let root = error
  while (root instanceof Error && root.cause instanceof Error) root = root.cause
  return root instanceof Error ? root.message : String(root)
}
