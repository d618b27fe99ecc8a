import { randomUUID } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import { constants, createSecureServer, type Http2SecureServer, type Http2Stream } from 'node:http2'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { promisify } from 'node:util'
import { constants as constantsOfZlib, gzip, type ZlibOptions } from 'node:zlib'
import { systemClock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { bodyText, type WireRequest, type WireResponse } from '@tranche/wire'
import type { HttpFront } from './front.ts'
import { protobufToJson } from './wire/protobuf-body.ts'
import { LONGEST_BODY } from './wire/request-body.ts'

/** Settings of {@link listen}. */
export interface ListenOptions {
  /** Must be a loopback address, because the Host header must name one. @default 127.0.0.1 */
  readonly host?: string
  /** 0 selects any free port. */
  readonly port: number
  /**
   * Called when a request arrives; its result is called once the response is sent, or once a watch has started. Also called around each
   * chunk of a watch, until the operating system has it. A virtual clock is stopped in between.
   */
  readonly onRequestStart?: () => () => void
}

/** Listening front. */
export interface HttpsServer {
  /** `https://127.0.0.1:6443` */
  readonly url: string
  readonly port: number
  /** CA certificate to trust, in PEM. */
  readonly caCertificate: string
  /** Ends all watches, waits at most half a second for responses in progress, then closes every connection. */
  close(): Promise<void>
}

/**
 * Serves a front over HTTPS (HTTP/2 and 1.1) with a certificate created for this server.
 *
 * @throws {AppError} PORT_IN_USE; OPTION_INVALID when the system rejects the address
 */
export async function listen(front: HttpFront, options: ListenOptions): Promise<HttpsServer> {
  const { host = '127.0.0.1', port, onRequestStart = () => () => undefined } = options
  const { createServerCertificate } = await import('./certificates.ts') // loaded only where there is a socket: it takes a while
  const { caCertificate, certificate, privateKey } = await createServerCertificate()
  const server = createSecureServer({ key: privateKey, cert: certificate, allowHTTP1: true })
  const sockets = new Set<Socket>()
  const answering = new Set<ServerResponse>()
  server.on('connection', (socket: Socket) => {
    socket.setNoDelay(true)
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // The HTTP/2 objects offer the part of the HTTP/1.1 API used here.
  const events: EventEmitter = server
  events.on('request', (request: IncomingMessage, response: ServerResponse) => {
    answering.add(response)
    response.once('close', () => answering.delete(response))
    void serve(front, request, response, onRequestStart)
  })
  server.on('sessionError', () => undefined)
  await bind(server, host, port)
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve))
    front.endWatches()
    await allClosed(answering)
    for (const socket of sockets) socket.destroy()
    await closed
  }
  const address = server.address() as AddressInfo
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return { url: `https://${name}:${address.port}`, port: address.port, caCertificate, close }
}

function bind(server: Http2SecureServer, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? portInUse(host, port, error) : notAllowed(host, port, error)),
    )
    server.listen({ host, port }, resolve)
  })
}

function notAllowed(host: string, port: number, cause: Error): AppError {
  return new AppError('OPTION_INVALID', `cannot listen on ${host}:${port}: ${cause.message}`, {
    details: { host, port },
    hint: 'Choose a port from 1024 to 65535, or 0 for a free one.',
    cause,
  })
}

function portInUse(host: string, port: number, cause: Error): AppError {
  return new AppError('PORT_IN_USE', `another program listens on ${host}:${port}`, {
    details: { host, port },
    hint: 'Choose another port, or stop that program.',
    cause,
  })
}

const longestFarewellMs = 500

/** Resolves when every response is sent, or after the timeout: a client that has stopped reading must not block the shutdown. */
function allClosed(answering: ReadonlySet<ServerResponse>): Promise<void> {
  return new Promise((resolve) => {
    const timer = systemClock.setTimer(longestFarewellMs, resolve)
    const check = (): void => {
      if (answering.size > 0) return
      timer.cancel()
      resolve()
    }
    for (const response of answering) response.once('close', check)
    check()
  })
}

/** Exchange in progress. */
interface Serving {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly release: () => void
  /** Called around each chunk of a watch. */
  readonly onChunk: () => () => void
}

async function serve(
  front: HttpFront,
  request: IncomingMessage,
  response: ServerResponse,
  onRequestStart: () => () => void,
): Promise<void> {
  const release = onRequestStart()
  const gone = new AbortController()
  response.once('close', () => gone.abort(new Error('the client closed the connection')))
  response.on('error', () => undefined)
  try {
    if (!isLoopbackHost(hostOf(request))) return refuseHost(response)
    const answered = await front.handle(await readRequest(request), gone.signal)
    const answer = { ...answered, headers: { ...answered.headers, 'audit-id': randomUUID() } }
    await writeAnswer(answer, { request, response, release, onChunk: onRequestStart })
  } catch {
    cut(request, response)
  } finally {
    release()
  }
}

/** Host name in the Host header (HTTP/1.1) or `:authority` (HTTP/2), without its port. */
function hostOf(request: IncomingMessage): string {
  const authority = request.headers[':authority'] ?? request.headers.host ?? ''
  return String(authority).replace(/:\d+$/, '').toLowerCase()
}

/** Rejects foreign host names, which prevents DNS rebinding through a browser. */
function isLoopbackHost(host: string): boolean {
  return host === '127.0.0.1' || host === 'localhost' || host === '[::1]'
}

function refuseHost(response: ServerResponse): void {
  response.writeHead(421, { 'content-type': 'text/plain; charset=utf-8' })
  response.end('this server answers for 127.0.0.1, localhost and [::1] only\n')
}

async function readRequest(request: IncomingMessage): Promise<WireRequest> {
  const bytes = await readBytes(request)
  const headers = readHeaders(request)
  const at = { method: request.method ?? 'GET', path: request.url ?? '/' }
  const json = headers['content-type'] === protobuf ? protobufToJson(bytes) : undefined
  if (json !== undefined) return { ...at, headers: { ...headers, 'content-type': 'application/json' }, body: json }
  return { ...at, headers, body: bytes.length === 0 ? undefined : bytes.toString('utf8') }
}

/** Resolves with the body, or with enough of it to show that it is too long; the rest is discarded. */
function readBytes(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      if (length > LONGEST_BODY) return
      length += chunk.length
      chunks.push(chunk)
      if (length > LONGEST_BODY) resolve(Buffer.concat(chunks))
    })
    request.once('end', () => resolve(Buffer.concat(chunks)))
    request.once('error', reject)
    request.once('close', () => reject(new Error('the client closed the connection')))
  })
}

const protobuf = 'application/vnd.kubernetes.protobuf'

function readHeaders(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined && !name.startsWith(':')) headers[name] = Array.isArray(value) ? value.join(', ') : value
  return headers
}

async function writeAnswer(answer: WireResponse, { request, response, release, onChunk }: Serving): Promise<void> {
  const isWatch = answer.headers['content-length'] === undefined
  if (!isWatch && isCompressed(answer, request)) return writeCompressed(answer, response, release)
  response.writeHead(answer.status, { ...answer.headers })
  if (isWatch) response.flushHeaders() // its first frame may be long in coming
  release()
  for await (const chunk of answer.body) await writeChunk(response, chunk, onChunk())
  response.end()
}

/** Minimum size in bytes of compressed responses. */
const COMPRESSED_FROM = 128 * 1024

function isCompressed({ status, headers }: WireResponse, request: IncomingMessage): boolean {
  const accepted = /(?:^|[ ,])gzip(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(String(request.headers['accept-encoding'] ?? ''))
  return accepted && status === 200 && Number(headers['content-length']) >= COMPRESSED_FROM
}

async function writeCompressed(answer: WireResponse, response: ServerResponse, release: () => void): Promise<void> {
  const body = await compress(await bodyText(answer), { level: constantsOfZlib.Z_BEST_SPEED })
  const vary = [answer.headers['vary'], 'Accept-Encoding'].filter((name) => name !== undefined).join(', ')
  response.writeHead(answer.status, { ...answer.headers, 'content-encoding': 'gzip', 'content-length': String(body.length), vary })
  release()
  response.end(body)
}

const compress = promisify<string, ZlibOptions, Buffer>(gzip)

/** Resolves when the operating system has the chunk, or the connection is gone. */
function writeChunk(response: ServerResponse, chunk: string, release: () => void): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('close', done)
      release()
      resolve()
    }
    response.once('close', done)
    if (response.destroyed || response.writableEnded) done()
    else response.write(chunk, done)
  })
}

/** Sends no response, or an incomplete one: the client sees a broken connection, over HTTP/2 a reset stream. */
function cut(request: IncomingMessage, response: ServerResponse & { readonly stream?: Http2Stream }): void {
  if (response.stream === undefined) request.socket.destroy()
  else response.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
}
