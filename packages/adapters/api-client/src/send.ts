import { type Clock, sleep } from '@tranche/clock'
import { AppError, isAppError } from '@tranche/errors'
import { ApiProblemError } from './api-problem-error.ts'
import type { FetchInit, FetchLike, FetchResponse } from './fetch-like.ts'

/** How the server is reached. */
export interface Connection {
  readonly fetch: FetchLike
  /** Address of the server, with the path that it is served under, if any. */
  readonly baseUrl: string
  /** Asked for every attempt, so that a token that was renewed is used; undefined sends none. */
  readonly token?: (() => string | undefined | Promise<string | undefined>) | undefined
  readonly clock: Clock
  /** Sent as `user-agent`, where the platform lets us. */
  readonly userAgent?: string | undefined
}

/** One request. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST'
  /** Below the base, without a slash in front. */
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Sending it twice does what sending it once does. */
  readonly isSafe: boolean
}

/** Limits of one call. */
export interface ApiCallOptions {
  readonly signal?: AbortSignal | undefined
  /** For each attempt, in milliseconds. @default 15000 */
  readonly deadlineMs?: number | undefined
}

/** How long one attempt may take where nobody says otherwise, in milliseconds. */
export const DEFAULT_DEADLINE_MS = 15_000
/** Attempts of what is safe. */
const MOST_ATTEMPTS = 4
const FIRST_WAIT_MS = 250
/** The longest that a server can make us wait before the next attempt, in milliseconds. */
const LONGEST_WAIT_MS = 10_000

/** What passes by itself: too many requests, and servers that start, stop, or are not reached by a proxy. */
const passing: readonly number[] = [429, 502, 503, 504]

/**
 * Sends one request; what is safe is tried again where no answer came, and after 429, 502, 503 and 504.
 *
 * @returns the body of a 2xx
 * @throws {ApiProblemError} for every other answer
 * @throws {AppError} API_UNREACHABLE, API_DEADLINE where none came; the signal's reason when it aborts
 */
export async function send(connection: Connection, request: ApiRequest, options: ApiCallOptions): Promise<string> {
  const { clock } = connection
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await attemptOnce(connection, request, options)
    } catch (error) {
      const waitMs = waitBeforeNext(error, attempt)
      if (waitMs === null || !request.isSafe || options.signal?.aborted === true) throw error
      await sleep(clock, waitMs, options.signal)
    }
  }
}

/** @returns null where another attempt would help nobody */
function waitBeforeNext(error: unknown, attempt: number): number | null {
  if (attempt >= MOST_ATTEMPTS) return null
  const backoffMs = FIRST_WAIT_MS * 2 ** (attempt - 1)
  if (error instanceof ApiProblemError) {
    return passing.includes(error.status) ? Math.min(error.retryAfterMs ?? backoffMs, LONGEST_WAIT_MS) : null
  }
  return isAppError(error) && (error.code === 'API_UNREACHABLE' || error.code === 'API_DEADLINE') ? backoffMs : null
}

async function attemptOnce(
  connection: Connection,
  request: ApiRequest,
  { signal, deadlineMs = DEFAULT_DEADLINE_MS }: ApiCallOptions,
): Promise<string> {
  const attempt = `${request.method} /${request.path}`
  const time = new AbortController()
  const late = new AppError('API_DEADLINE', `${attempt} was not answered within ${deadlineMs} ms`, { details: { attempt, deadlineMs } })
  const timer = connection.clock.setTimer(deadlineMs, () => time.abort(late))
  try {
    const both = signal === undefined ? time.signal : AbortSignal.any([signal, time.signal])
    const response = await open(connection, request, both)
    return await response.text()
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason
    if (time.signal.aborted) throw late
    throw isAppError(error) ? error : unreachable(attempt, error)
  } finally {
    timer.cancel()
  }
}

/**
 * Sends one request once.
 *
 * @returns the response with its body unread, where it is a 2xx
 * @throws {ApiProblemError} for every other; what `fetch` throws
 */
export async function open(connection: Connection, request: ApiRequest, signal: AbortSignal): Promise<FetchResponse> {
  const response = await connection.fetch(urlOf(connection, request), await initOf(connection, request, signal))
  if (response.status >= 200 && response.status < 300) return response
  const failed = { status: response.status, body: await response.text(), retryAfter: response.headers.get('retry-after') }
  throw new ApiProblemError(`${request.method} /${request.path}`, failed)
}

/** @returns an error that says that no answer came */
export function unreachable(attempt: string, cause: unknown): AppError {
  const why = cause instanceof Error ? reasonOf(cause) : String(cause)
  return new AppError('API_UNREACHABLE', `${attempt} was not answered: ${why}`, { details: { attempt }, cause })
}

/** `fetch failed` says nothing; what made it fail does. */
function reasonOf(error: Error): string {
  return error.cause instanceof Error ? error.cause.message : error.message
}

function urlOf({ baseUrl }: Connection, { path }: ApiRequest): string {
  return `${baseUrl.replace(/\/+$/, '')}/${path}`
}

async function initOf({ token, userAgent }: Connection, request: ApiRequest, signal: AbortSignal): Promise<FetchInit> {
  const said = await token?.()
  const headers: Record<string, string> = {
    accept: 'application/json, application/problem+json',
    ...(userAgent !== undefined && { 'user-agent': userAgent }),
    ...(said !== undefined && { authorization: `Bearer ${said}` }),
    ...(request.body !== undefined && { 'content-type': 'application/json' }),
    ...request.headers,
  }
  const body = request.body === undefined ? {} : { body: JSON.stringify(request.body) }
  return { method: request.method, headers, signal, redirect: 'manual', ...body }
}
