import { Socket } from 'node:net'
import { createSecureContext } from 'node:tls'
import type { Exchange, WireRequest, WireResponse } from '@tranche/wire'
import { Agent, buildConnector, type Dispatcher, request as send } from 'undici'

/** Current client credentials and trusted authorities. PEM text. */
export interface Credentials {
  /** Authorities that may sign the server's certificate; undefined: those of the system. */
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
  /** Headers of every request: `{authorization: 'Bearer …'}`; a list is sent as several lines. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
}

/** An API server and how to authenticate to it. */
export interface ClusterAccess {
  /** Base URL such as `https://10.0.0.1:6443`; its path is prepended to every request path. */
  readonly server: string
  /** Name in the server's certificate, if it is not the host of `server`. */
  readonly serverName?: string | undefined
  /** Accepts any certificate. @default false */
  readonly skipTlsVerify?: boolean
  /** Called before every request; answers from memory unless tokens or certificates are due for a reread. */
  credentials(): Promise<Credentials>
  /**
   * Called when the server rejected `refused`, or when they do not make the server trusted.
   *
   * @returns newer credentials; null if there are none. @default never any
   */
  renew?(refused: Credentials): Promise<Credentials | null>
}

/** Connections to one API server. */
export interface UndiciExchange {
  /** Carries calls. */
  readonly exchange: Exchange
  /** Carries watches, each over its own connection. */
  readonly watchExchange: Exchange
  /** Carries the few calls that must not wait for other calls, over connections of their own. */
  readonly urgentExchange: Exchange
  /** Aborts requests in flight and closes all connections. */
  close(): Promise<void>
}

/** Maximum number of calls in flight; more calls wait. */
const CALL_CONNECTIONS = 32
/** One more than the calls in flight, as a reserve for a silent connection. */
const URGENT_CONNECTIONS = 2
/** How long an idle connection is kept, in milliseconds: less than the 90 s after which the API server closes it. */
const KEEP_ALIVE_MS = 60_000
/** Silence after which TCP probes a connection, in milliseconds; the kernel gives up 10 s after that. */
const PROBE_AFTER_MS = 15_000
const CONNECT_TIMEOUT_MS = 10_000

/**
 * Creates an HTTP/1.1 transport to an API server over kept connections: some for calls, fewer for urgent calls, one for each watch. HTTP/2
 * is not offered, so that losing one connection never breaks all watches.
 *
 * The caller sets deadlines (its signal). TCP probes notice a server that vanished silently; the idle timeout of the watch notices one that
 * keeps the connection and sends nothing. When certificates change, new connections use the new ones, and requests in flight end on the
 * old.
 *
 * A request that gets 401 is sent once more if there are newer credentials, because the server has not processed it. A DELETE is not: it
 * rests on what its sender has just seen (F1).
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
      // The caller's next attempt may find an authority that vouches for the server.
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
  /** Agent for these certificates. */
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
    // Otherwise closing waits until a silent server is given up.
    for (const socket of connecting) socket.destroy()
    await made?.agent.destroy()
  }

  return { current, close }
}

interface AgentOptions {
  readonly access: ClusterAccess
  readonly credentials: Credentials
  readonly connections: number | null
  /** Receives the sockets that are still connecting. */
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
    // Reading certificates takes longer than a handshake, so the connections share them.
    secureContext: createSecureContext({
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    }),
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

/** Decodes bytes to text; the network may split a character. */
async function* decode(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  for await (const bytes of body) {
    const text = decoder.decode(bytes, { stream: true })
    if (text !== '') yield text
  }
}
