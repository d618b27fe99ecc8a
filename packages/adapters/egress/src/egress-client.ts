import type { Clock } from '@tranche/clock'
import { type Dispatcher, request as send } from 'undici'
import { AddressRefused, lookupOutside, type Resolve } from './address-rule.ts'
import { type CallerPool, CallerPools } from './caller-pools.ts'
import { type HostRule, isHostAllowed } from './host-rule.ts'
import { readBounded } from './read-bounded.ts'

/** Request to a server that a policy names. */
export interface EgressRequest {
  /** Namespace or program that asks: slow requests of one caller delay no request of another. */
  readonly caller: string
  /** `http:` or `https:` URL without user or password. */
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT'
  /** Headers sent to every host, redirects included. Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>
  /** Headers sent only to the origin of `url`, such as tokens and passwords. Lower-case names; they override `headers`. */
  readonly privateHeaders?: Readonly<Record<string, string>>
  readonly body?: string
  /** Limit from now until the last byte of the response, redirects included. Milliseconds, above 0. */
  readonly timeoutMs: number
}

/** Reason why there is no response. */
export type EgressFailure = 'InvalidUrl' | 'HostNotAllowed' | 'TooManyRedirects' | 'Timeout' | 'TooLarge' | 'Unreachable'

/** Result of a request. A response with any status is an answer. */
export type EgressResult =
  | { readonly kind: 'answered'; readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }
  /** `message` is for a person, with the fix if there is one. It names hosts, and never a path, a query or a header. */
  | { readonly kind: 'failed'; readonly reason: EgressFailure; readonly message: string }

/** Sends requests out of the cluster. */
export interface EgressClient {
  /** @throws the signal's reason once it aborts, and nothing else */
  send(request: EgressRequest, signal: AbortSignal): Promise<EgressResult>
  /** @returns whether the URL's host is allowed; false for an invalid URL */
  allows(url: string): boolean
  /** Aborts requests in flight and closes all connections. */
  close(): Promise<void>
}

/** Settings of {@link createEgressClient}. */
export interface EgressClientOptions {
  readonly clock: Clock
  /** Allowed hosts; without any, no host is allowed. */
  readonly allowHosts: readonly HostRule[]
  /** Value of the `user-agent` header. */
  readonly userAgent: string
  /** Resolves names. @default the system's resolver */
  readonly resolve?: Resolve
}

/** Maximum response body, in bytes. */
export const MAX_ANSWER_BYTES = 1024 * 1024
/** Maximum number of redirects that are followed. */
export const MAX_REDIRECTS = 3

/** Bytes of a body that are read without waiting for a slot. */
const FREE_BYTES = 64 * 1024
/** Longer responses are read a few at a time, which bounds their memory. */
const LIMITS = { connections: 8, requestsOfCaller: 64, longAnswers: 16, longAnswersOfCaller: 4, keepAliveMs: 10_000 } as const

/**
 * Creates a client that sends requests only to hosts that the installation allows, redirects included.
 *
 * At most three redirects are followed: any for GET, and only those that keep method and body (307, 308) for other methods. A name never
 * resolves to an address of this machine or its cloud. Proxies are never used, whatever the environment says.
 */
export function createEgressClient({ clock, allowHosts, userAgent, resolve }: EgressClientOptions): EgressClient {
  const pools = new CallerPools(clock, { lookup: lookupOutside(allowHosts, resolve) }, LIMITS)
  return {
    async send(request, signal) {
      signal.throwIfAborted()
      const ending = new AbortController()
      const onAbort = (): void => ending.abort(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
      let isLate = false
      let isWaiting = true
      const timer = clock.setTimer(request.timeoutMs, () => {
        isLate = true
        ending.abort()
      })
      try {
        const sending = { allowHosts, userAgent, signal: ending.signal }
        return await pools.run(request.caller, ending.signal, (pool) => {
          isWaiting = false
          return follow(request, { ...pool, ...sending })
        })
      } catch (error) {
        signal.throwIfAborted()
        return isLate ? failed('Timeout', lateText(request, isWaiting)) : unreachable(error, request)
      } finally {
        timer.cancel()
        signal.removeEventListener('abort', onAbort)
      }
    },
    allows: (url) => URL.canParse(url) && isHostAllowed(new URL(url), allowHosts),
    close: () => pools.close(),
  }
}

function lateText(request: EgressRequest, isWaiting: boolean): string {
  const { caller, timeoutMs } = request
  if (!isWaiting) return `${hostOf(request)} did not answer within ${timeoutMs} ms`
  return `no request was sent to ${hostOf(request)} within ${timeoutMs} ms, because ${LIMITS.requestsOfCaller} earlier ones of ${caller} still run; shorten their timeout, or send fewer at a time`
}

interface Sending extends Pick<CallerPool, 'agent' | 'semaphore'> {
  readonly allowHosts: readonly HostRule[]
  readonly userAgent: string
  readonly signal: AbortSignal
}

async function follow(request: EgressRequest, sending: Sending): Promise<EgressResult> {
  const first = toUrl(request.url)
  if (typeof first === 'string') return failed('InvalidUrl', first)
  let url = first
  for (let redirects = 0; ; redirects++) {
    if (!isHostAllowed(url, sending.allowHosts)) return failed('HostNotAllowed', notAllowedText(url, redirects))
    const answer = await attempt(request, url, { ...sending, isFirstOrigin: url.origin === first.origin })
    const target = redirectOf(answer, request.method)
    if (target === null) return read(answer, url, sending)
    await answer.body.dump()
    if (redirects === MAX_REDIRECTS) return failed('TooManyRedirects', `${first.host} redirects more than ${MAX_REDIRECTS} times`)
    const next = toUrl(target, url.href)
    if (typeof next === 'string') return failed('InvalidUrl', `${url.host} redirects to a URL that cannot be used: ${next}`)
    url = next
  }
}

interface Attempt extends Sending {
  readonly isFirstOrigin: boolean
}

/** The server may close a kept connection just as it is reused. In that case a GET, and only a GET, is tried once more. */
async function attempt(request: EgressRequest, url: URL, sending: Attempt): Promise<Dispatcher.ResponseData> {
  try {
    return await attemptOnce(request, url, sending)
  } catch (error) {
    if (request.method !== 'GET' || sending.signal.aborted || !isBroken(error)) throw error
    return attemptOnce(request, url, sending)
  }
}

function isBroken(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && (error.code === 'UND_ERR_SOCKET' || error.code === 'ECONNRESET' || error.code === 'EPIPE')
  )
}

function attemptOnce(
  request: EgressRequest,
  url: URL,
  { agent, userAgent, signal, isFirstOrigin }: Attempt,
): Promise<Dispatcher.ResponseData> {
  const headers = { 'user-agent': userAgent, ...request.headers, ...(isFirstOrigin && request.privateHeaders) }
  return send(url, { dispatcher: agent, method: request.method, headers, body: request.body ?? null, signal })
}

/** Target of a redirect; null if the response is final. */
function redirectOf({ statusCode, headers }: Dispatcher.ResponseData, method: string): string | null {
  const kept = statusCode === 307 || statusCode === 308
  const followed = kept || (method === 'GET' && (statusCode === 301 || statusCode === 302 || statusCode === 303))
  const { location } = headers
  return followed && typeof location === 'string' ? location : null
}

async function read(answer: Dispatcher.ResponseData, url: URL, { semaphore, signal }: Sending): Promise<EgressResult> {
  const body = await readBounded(answer.body, { maxBytes: MAX_ANSWER_BYTES, freeBytes: FREE_BYTES, semaphore, signal })
  if (body === null) return failed('TooLarge', `${url.host} answers with more than ${MAX_ANSWER_BYTES} bytes`)
  return { kind: 'answered', status: answer.statusCode, headers: singleValues(answer.headers), body }
}

function toUrl(text: string, base?: string): URL | string {
  if (!URL.canParse(text, base)) return 'it is not a URL'
  const url = new URL(text, base)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `its scheme is ${url.protocol.slice(0, -1)}; write http or https`
  if (url.username !== '' || url.password !== '') return 'it contains a user or a password; use a header whose value is in a Secret'
  return url
}

function notAllowedText({ host }: URL, redirects: number): string {
  const how = redirects === 0 ? `${host} is not an allowed host` : `a redirect leads to ${host}, which is not an allowed host`
  return `${how}; the operator of the controller can allow it with --allow-host`
}

function unreachable(error: unknown, request: EgressRequest): EgressResult {
  const refused = refusalOf(error)
  if (refused !== undefined) return failed('HostNotAllowed', refused.message)
  return failed('Unreachable', `${hostOf(request)} cannot be reached: ${reasonOf(error)}`)
}

function refusalOf(error: unknown): AddressRefused | undefined {
  if (error instanceof AggregateError) return error.errors.find((one) => one instanceof AddressRefused)
  return error instanceof AddressRefused ? error : undefined
}

function hostOf({ url }: EgressRequest): string {
  return new URL(url).host
}

/** Part of the error that reveals nothing about the request: its code and the socket's message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the connection broke'
  const code = 'code' in error ? String(error.code) : error.name
  const ofTls = /SSL routines:[^:]*:([^:]+)/.exec(error.message)?.[1]
  if (ofTls !== undefined) return `TLS failed: ${ofTls}`
  // Behind a semicolon Node.js suggests remedies for its own callers.
  const [said = ''] = error.message.split(/[;\n]/, 1)
  return /^connect |getaddrinfo|certificate|other side closed|socket|TLS|SSL/i.test(said) ? said : code
}

function failed(reason: EgressFailure, message: string): EgressResult {
  return { kind: 'failed', reason, message }
}

function singleValues(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]))
}
