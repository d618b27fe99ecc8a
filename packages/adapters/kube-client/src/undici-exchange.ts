import { Socket } from 'node:net'
import type { Exchange, WireRequest, WireResponse } from '@tranche/wire'
import { Agent, buildConnector, type Dispatcher, request as send } from 'undici'

/** Who we are and whom we trust, as of now. PEM text. */
export interface Credentials {
  /** Certificates that may sign the server's; undefined: those of the system. */
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
  /** Sent with every request: `{authorization: 'Bearer …'}`; a list as so many lines. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
}

/** An API server and how to be let in. */
export interface ClusterAccess {
  /** `https://10.0.0.1:6443`; a path in it stands before every request path. */
  readonly server: string
  /** Name in the server's certificate, where it is not the host of `server`. */
  readonly serverName?: string | undefined
  /** Accepts any certificate. @default false */
  readonly skipTlsVerify?: boolean
  /** Asked before every request; answers from memory, unless tokens or certificates are due for another look. */
  credentials(): Promise<Credentials>
  /**
   * Asked when the server did not accept `refused`, or when they do not make us trust the server.
   *
   * @returns newer ones; null when there are none. @default there never are
   */
  renew?(refused: Credentials): Promise<Credentials | null>
}

/** Sockets to one API server. */
export interface UndiciExchange {
  /** For calls. */
  readonly exchange: Exchange
  /** For watches: each has its own connection. */
  readonly watchExchange: Exchange
  /** For the few calls that must not wait for other calls: they have connections of their own. */
  readonly urgentExchange: Exchange
  /** Breaks what is in flight and closes all connections. */
  close(): Promise<void>
}

/** Calls in flight at once; more of them wait. */
const CALL_CONNECTIONS = 32
/** One more than a call in flight, for a connection that fell silent. */
const URGENT_CONNECTIONS = 2
/** How long an unused connection is kept, in milliseconds: less than the 90 s after which the API server closes it. */
const KEEP_ALIVE_MS = 60_000
/** A connection silent for so long is probed by TCP, in milliseconds; the kernel gives up 10 s after that. */
const PROBE_AFTER_MS = 15_000
const CONNECT_TIMEOUT_MS = 10_000

/**
 * Speaks HTTP/1.1 to an API server over kept connections: few for calls, fewer for urgent ones, one for each watch. HTTP/2 is not offered, so
 * that the loss of one connection never breaks all watches together.
 *
 * Deadlines are the caller's (its signal). A peer that vanished without a word is noticed by TCP probes; one that holds
 * the connection and says nothing, by the idle timeout of the watch. When certificates change, new connections use the
 * new ones and requests in flight end on the old.
 *
 * A request that is answered with 401 is sent again, once, if there are newer credentials: the server has not looked at
 * it. A DELETE is not: it rests on what its sender has just seen (F1).
 */
export function createUndiciExchange(access: ClusterAccess): UndiciExchange {
  const server = new URL(access.server)
  const prefix = server.pathname.replace(/\/$/, '')
  const calls = createAgents(access, CALL_CONNECTIONS)
  const watches = createAgents(access, null)
  const urgent = createAgents(access, URGENT_CONNECTIONS)

  return {
    exchange: (request, signal) => exchangeOver(calls, request, signal),
    watchExchange: (request, signal) => exchangeOver(watches, request, signal),
    urgentExchange: (request, signal) => exchangeOver(urgent, request, signal),
    close: async () => void (await Promise.all([calls.close(), watches.close(), urgent.close()])),
  }

  async function exchangeOver(agents: Agents, request: WireRequest, signal: AbortSignal): Promise<WireResponse> {
    const credentials = await access.credentials()
    const answer = await attempt(agents, request, { credentials, signal })
    if (answer.statusCode !== 401) return toResponse(answer)
    const newer = await access.renew?.(credentials)
    if (!newer || request.method === 'DELETE') return toResponse(answer)
    await answer.body.dump()
    return toResponse(await attempt(agents, request, { credentials: newer, signal }))
  }

  async function attempt(agents: Agents, request: WireRequest, { credentials, signal }: AttemptOptions): Promise<Dispatcher.ResponseData> {
    signal.throwIfAborted()
    try {
      return await send(`${server.origin}${prefix}${request.path}`, {
        dispatcher: agents.current(credentials),
        method: request.method as 'GET',
        headers: { ...request.headers, ...(credentials.headers as Record<string, string | string[]>) },
        body: request.body ?? null,
        signal,
      })
    } catch (error) {
      // The next attempt, which is the caller's, may find an authority that vouches for the server.
      if (isDistrust(error)) await access.renew?.(credentials)
      throw error
    }
  }
}

interface AttemptOptions {
  readonly credentials: Credentials
  readonly signal: AbortSignal
}

/** @see https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const DISTRUST = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_GET_ISSUER_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_SIGNATURE_FAILURE',
  'CERT_HAS_EXPIRED',
])

function isDistrust(error: unknown): boolean {
  return error instanceof Error && 'code' in error && DISTRUST.has(String(error.code))
}

function toResponse(answer: Dispatcher.ResponseData): WireResponse {
  return { status: answer.statusCode, headers: singleValues(answer.headers), body: decode(answer.body) }
}

interface Agents {
  /** The agent for these certificates. */
  current(credentials: Credentials): Agent
  close(): Promise<void>
}

function createAgents(access: ClusterAccess, connections: number | null): Agents {
  let made: { readonly credentials: Credentials; readonly agent: Agent } | undefined
  const connecting = new Set<Socket>()
  let closed = false

  function current(credentials: Credentials): Agent {
    if (closed) throw new Error('the connections to the API server were closed')
    if (made !== undefined && hasSameCertificates(made.credentials, credentials)) return made.agent
    // Lets requests in flight end; a watch on it ends by its own timeout.
    made?.agent.close().catch(() => {})
    made = { credentials, agent: createAgent({ access, credentials, connections, connecting }) }
    return made.agent
  }

  async function close(): Promise<void> {
    closed = true
    // Otherwise the end waits until a server that says nothing has been given up.
    for (const socket of connecting) socket.destroy()
    await made?.agent.destroy()
  }

  return { current, close }
}

interface AgentOptions {
  readonly access: ClusterAccess
  readonly credentials: Credentials
  readonly connections: number | null
  /** Gets the sockets whose connection is being made, for as long as it is. */
  readonly connecting: Set<Socket>
}

function createAgent({ access, credentials, connections, connecting }: AgentOptions): Agent {
  const { ca, cert, key } = credentials
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_AFTER_MS,
    allowH2: false,
    rejectUnauthorized: access.skipTlsVerify !== true,
    ...(access.serverName !== undefined && { servername: access.serverName }),
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  })
  return new Agent({
    connections,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(options, callback) {
      const socket: unknown = connect(options, (...result) => {
        if (socket instanceof Socket) connecting.delete(socket)
        callback(...result)
      })
      if (socket instanceof Socket) connecting.add(socket)
    },
  })
}

function hasSameCertificates(a: Credentials, b: Credentials): boolean {
  return a.ca === b.ca && a.cert === b.cert && a.key === b.key
}

function singleValues(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]))
}

/** Bytes to text; a character may be cut in two by the network. */
async function* decode(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  for await (const bytes of body) {
    const text = decoder.decode(bytes, { stream: true })
    if (text !== '') yield text
  }
}
