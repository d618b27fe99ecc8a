import { type Clock, sleep } from '@tranche/clock'
import { AppError, isAppError } from '@tranche/errors'
import { ApiProblemError } from './api-problem-error.ts'
import type { FetchInit, FetchLike, FetchResponse } from './fetch-like.ts'

/** Connection settings of the server. */
export interface RestConnection {
  readonly fetch: FetchLike
  /** Base URL of the server, including its path prefix. */
  readonly baseUrl: string
  /** Called before every attempt, so that a renewed token is used; undefined sends none. */
  readonly token?: (() => string | undefined | Promise<string | undefined>) | undefined
  readonly clock: Clock
  /** Sent as `user-agent`, if the platform allows it. */
  readonly userAgent?: string | undefined
}

/** One request to the REST API. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST'
  /** Path below the base URL, without a leading slash. */
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Whether repeating the request has no further effect. */
  readonly isSafe: boolean
}

/** Limits of one call. */
export interface ApiCallOptions {
  readonly signal?: AbortSignal | undefined
  /** Limit of each attempt, in milliseconds. @default 15000 */
  readonly deadlineMs?: number | undefined
}

/** Default limit of one attempt, in milliseconds. */
export const DEFAULT_DEADLINE_MS = 15_000
/** Maximum number of attempts of a safe request. */
const MOST_ATTEMPTS = 4
const FIRST_WAIT_MS = 250
/** Maximum wait that a server can impose before the next attempt, in milliseconds. */
const LONGEST_WAIT_MS = 10_000

/** Statuses of temporary errors: too many requests, and servers that start, stop, or are unreachable behind a proxy. */
const passing: readonly number[] = [429, 502, 503, 504]

/**
 * Sends one request. Safe requests are retried if no answer came, and after 429, 502, 503 and 504.
 *
 * @returns the body of a 2xx response
 * @throws {ApiProblemError} for every other response
 * @throws {AppError} API_UNREACHABLE or API_DEADLINE if no response came; the signal's reason when it aborts
 */
export async function send(connection: RestConnection, request: ApiRequest, options: ApiCallOptions): Promise<string> {
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

/** @returns null if another attempt would not help */
function waitBeforeNext(error: unknown, attempt: number): number | null {
  if (attempt >= MOST_ATTEMPTS) return null
  const backoffMs = FIRST_WAIT_MS * 2 ** (attempt - 1)
  if (error instanceof ApiProblemError) {
    return passing.includes(error.status) ? Math.min(error.retryAfterMs ?? backoffMs, LONGEST_WAIT_MS) : null
  }
  return isAppError(error) && (error.code === 'API_UNREACHABLE' || error.code === 'API_DEADLINE') ? backoffMs : null
}

async function attemptOnce(
  connection: RestConnection,
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
    throw isAppError(error) ? error : serverUnreachable(attempt, error)
  } finally {
    timer.cancel()
  }
}

/**
 * Sends one request once.
 *
 * @returns the 2xx response with its body unread
 * @throws {ApiProblemError} for every other response; what `fetch` throws
 */
export async function open(connection: RestConnection, request: ApiRequest, signal: AbortSignal): Promise<FetchResponse> {
  const response = await connection.fetch(urlOf(connection, request), await initOf(connection, request, signal))
  if (response.status >= 200 && response.status < 300) return response
  const failed = { status: response.status, body: await response.text(), retryAfter: response.headers.get('retry-after') }
  throw new ApiProblemError(`${request.method} /${request.path}`, failed)
}

/** @returns the error for a request without an answer */
export function serverUnreachable(attempt: string, cause: unknown): AppError {
  const why = cause instanceof Error ? reasonOf(cause) : String(cause)
  return new AppError('API_UNREACHABLE', `${attempt} was not answered: ${why}`, { details: { attempt }, cause })
}

/** Reads the cause, because `fetch failed` says nothing. */
function reasonOf(error: Error): string {
  return error.cause instanceof Error ? error.cause.message : error.message
}

function urlOf({ baseUrl }: RestConnection, { path }: ApiRequest): string {
  return `${baseUrl.replace(/\/+$/, '')}/${path}`
}

async function initOf({ token, userAgent }: RestConnection, request: ApiRequest, signal: AbortSignal): Promise<FetchInit> {
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
