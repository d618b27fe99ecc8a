import type { FetchInit, FetchLike, FetchResponse } from '@tranche/api-client'
import type { UnboundApi, UnboundApiOptions } from '@tranche/api'
import { sleep, type VirtualClock } from '@tranche/clock'
import type { Failpoints, PortCalls } from '@tranche/failpoints'
import { silentLogger } from '@tranche/telemetry'
import { createRandom, type Random } from '@tranche/sim-api'
import type { Exchange, WireRequest } from '@tranche/wire'
import { NEXT_MEMBER, type Version } from '../scenarios/next-version.ts'
import type { Process } from '../scenarios/process.ts'

/** Calls of an API process to the API server, by purpose. */
interface ApiCalls {
  /** Asks for the identity of a client, or for its permissions. */
  review: Exchange
  read: Exchange
  /** Writes an action. */
  write: Exchange
  /** Reports the action in an event. */
  tell: Exchange
}

/** The calls of an API process, by the names of their failpoints. */
export const apiFailpointPorts = {
  api: { review: 'promise', read: 'promise', write: 'promise', tell: 'promise' },
} as const satisfies { readonly api: PortCalls<ApiCalls> }

/** Parts with which an API process starts. */
export interface ApiProgramParts {
  readonly identity: string
  readonly process: Process
  readonly version: Version
  /** Clock of the world: it stops while the program loads its libraries. */
  readonly clock: VirtualClock
  readonly seed: number
  readonly points: Failpoints
}

/** The REST API in a process of its own. */
export interface ApiProgram {
  readonly ready: Promise<void>
  readonly stopped: Promise<void>
  /** Takes no more requests, and ends when those in progress are answered. */
  stop(): Promise<void>
  /** Requests over a connection from outside. Rejects when the process ends, and when the sender does not wait. */
  readonly fetch: FetchLike
  /** Breaks all connections, and leaves nothing behind. */
  drop(): void
}

/** Starts the REST API without its sockets. */
export function startApiProgram({ identity, process, version, clock, seed, points }: ApiProgramParts): ApiProgram {
  const release = clock.hold()
  const exchange = byCalls(points.wrap('api', callsOf(onTheWay(process, createRandom('way', seed, identity)))), process.exchange)
  const limits = { loopLateMs: PATIENT_MS, requestsPerSecond: 1_000_000 }
  const made = startApi({ exchange, clock: process.clock, log: silentLogger, limits, seed }).finally(release)
  const dropped = new AbortController()
  const underWay = new Set<Promise<unknown>>()

  async function answer(url: string, init: FetchInit, sender: AbortSignal): Promise<FetchResponse> {
    const gone = seenWhenThawed(process, sender)
    const api = await made
    await process.whenThawed()
    const { pathname, search } = new URL(url)
    const request = { method: init.method, path: `${pathname}${search}`, headers: init.headers, body: init.body }
    const answered = await api.send(request, gone)
    await process.whenThawed()
    return toResponse(answered, version === 'next' ? identity : null)
  }

  const stop = async ({ stop: end }: UnboundApi): Promise<void> => {
    await Promise.all([end(), Promise.allSettled(underWay)])
  }

  return {
    ready: made.then(({ ready }) => ready),
    stopped: made.then(({ stopped }) => stopped),
    stop: async () => stop(await made),
    fetch(url, init) {
      const ends = AbortSignal.any([init.signal, dropped.signal])
      const response = answer(url, init, init.signal)
      const settled = response.catch(() => {}).finally(() => underWay.delete(settled))
      underWay.add(settled)
      return Promise.race([response, rejectsOn(ends)])
    },
    drop() {
      dropped.abort(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }))
      // A frozen process sends nothing any more: this only returns what the test process has lent it.
      void made.then(({ stop: end }) => end())
    },
  }
}

/**
 * @returns a signal that aborts when the process notices that the sender is gone; a frozen process notices it when it thaws, right after
 * the request
 */
export function seenWhenThawed(process: Process, sender: AbortSignal): AbortSignal {
  const gone = new AbortController()
  sender.addEventListener('abort', () => void process.whenThawed().then(() => gone.abort(sender.reason)), { once: true })
  return gone.signal
}

/** Loads the libraries only in worlds that have the API. */
async function startApi(options: UnboundApiOptions): Promise<UnboundApi> {
  const { startUnboundApi } = await import('@tranche/api')
  return startUnboundApi(options)
}

/** Delay of the event loop that counts as overload, in milliseconds. Real time means nothing in a world in virtual time. */
const PATIENT_MS = 600_000

/** Delays requests and answers, so that the end of a process finds some of them in transit. */
function onTheWay({ exchange, clock }: Process, random: Random): Exchange {
  return async (request, signal) => {
    await sleep(clock, random.integer(MOST_WAY_MS), signal)
    const response = await exchange(request, signal)
    await sleep(clock, random.integer(MOST_WAY_MS), signal)
    return response
  }
}

const MOST_WAY_MS = 40

function callsOf(exchange: Exchange): ApiCalls {
  return { review: exchange, read: exchange, write: exchange, tell: exchange }
}

/** Watches pass unchanged. */
function byCalls(calls: ApiCalls, watches: Exchange): Exchange {
  return (request, signal) => {
    const call = callOf(request)
    return (call === null ? watches : calls[call])(request, signal)
  }
}

function callOf({ method, path }: WireRequest): keyof ApiCalls | null {
  if (method === 'POST') return /reviews(\?|$)/.test(path) ? 'review' : 'tell'
  if (method !== 'GET') return 'write'
  return /[?&]watch=/.test(path) ? null : 'read'
}

function rejectsOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error)
    else signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

/** @param by identity of the program that answers in the next version, with one member more; null: the present version answers */
function toResponse({ status, headers, body }: Awaited<ReturnType<UnboundApi['send']>>, by: string | null): FetchResponse {
  const text = by === null || !body.startsWith('{') ? body : body.replace('{', `{${JSON.stringify(NEXT_MEMBER)}:${JSON.stringify(by)},`)
  return { status, headers: { get: (name) => headers[name] ?? null }, text: async () => text, body: null }
}
