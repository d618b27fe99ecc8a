import type { FetchInit, FetchLike, FetchResponse } from '@tranche/api-client'
import type { UnboundApi, UnboundApiOptions } from '@tranche/api'
import { sleep, type VirtualClock } from '@tranche/clock'
import type { Failpoints, PortCalls } from '@tranche/failpoints'
import { silentLogger } from '@tranche/log'
import { createRandom, type Random } from '@tranche/sim-api'
import type { Exchange, WireRequest } from '@tranche/wire'
import { NEXT_MEMBER, type Version } from '../scenarios/next-version.ts'
import type { Process } from '../scenarios/process.ts'

/** What an API process sends to the API server, by what it is for. */
interface ApiCalls {
  /** Asks who somebody is, or what they may. */
  review: Exchange
  read: Exchange
  /** Writes an action. */
  write: Exchange
  /** Says in an event that it has. */
  tell: Exchange
}

/** The calls of an API process, by the names of their failpoints. */
export const apiFailpointPorts = {
  api: { review: 'promise', read: 'promise', write: 'promise', tell: 'promise' },
} as const satisfies { readonly api: PortCalls<ApiCalls> }

/** What an API process is started with. */
export interface ApiProgramParts {
  readonly identity: string
  readonly process: Process
  readonly version: Version
  /** Of the world: it stands still while the program loads its libraries. */
  readonly clock: VirtualClock
  readonly seed: number
  readonly points: Failpoints
}

/** The REST API in a process of its own. */
export interface ApiProgram {
  readonly ready: Promise<void>
  readonly stopped: Promise<void>
  /** Takes no more requests, and ends when those under way are answered. */
  stop(): Promise<void>
  /** What comes by a connection from outside. Rejects when the process ends, and when the sender does not wait. */
  readonly fetch: FetchLike
  /** All connections break, and nothing of it is left. */
  drop(): void
}

/** Starts the REST API; its sockets alone are left out. */
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
      // Whose process stands still sends nothing any more: this only gives back what this process of ours has lent it.
      void made.then(({ stop: end }) => end())
    },
  }
}

/** @returns aborts when the process sees that the sender has gone: a frozen process sees it when it thaws, right after what it was sent */
export function seenWhenThawed(process: Process, sender: AbortSignal): AbortSignal {
  const gone = new AbortController()
  sender.addEventListener('abort', () => void process.whenThawed().then(() => gone.abort(sender.reason)), { once: true })
  return gone.signal
}

/** Its libraries are loaded only in worlds that have it. */
async function startApi(options: UnboundApiOptions): Promise<UnboundApi> {
  const { startUnboundApi } = await import('@tranche/api')
  return startUnboundApi(options)
}

/** A turn of the loop that is late by the wall clock says nothing about a world in virtual time. */
const PATIENT_MS = 600_000

/** Requests and answers take their time, so that whatever ends a process finds some under way. */
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

/** Watches pass as they are. */
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

/** @param by who answers in the next version, with a member more; null: the present one does */
function toResponse({ status, headers, body }: Awaited<ReturnType<UnboundApi['send']>>, by: string | null): FetchResponse {
  const text = by === null || !body.startsWith('{') ? body : body.replace('{', `{${JSON.stringify(NEXT_MEMBER)}:${JSON.stringify(by)},`)
  return { status, headers: { get: (name) => headers[name] ?? null }, text: async () => text, body: null }
}
