import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Certificate } from '@tranche/certificates'
import { createQuota, limitConnections, type Quota } from '@tranche/connections'
import { AppError } from '@tranche/errors'
import { receiveBodies, type ReceiveBody } from './receive-bodies.ts'
import type { WebhookHandler } from './webhook-handler.ts'

/** Listen address of the webhooks. */
export interface WebhookListen {
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
}

/** TLS server; handshakes fail until it has a certificate. */
export interface WebhookServer {
  /** Base URL: `https://127.0.0.1:9443`. */
  readonly url: string
  /** Uses this certificate for new connections. */
  use(certificate: Certificate): void
  /** Refuses new connections and waits up to {@link CLOSE_MS} for requests in progress. */
  close(): Promise<void>
}

/** Maximum time to receive a request, in milliseconds; API servers are faster. */
const REQUEST_MS = 10_000
/** Maximum number of connections without a received review, in total and per address; several API servers may share one address. */
const limits = { connections: 256, connectionsOfAddress: 128 }
/** Maximum number of concurrent reviews per address; each may cause a read from the API server. */
const REVIEWS_OF_ADDRESS = 32
/** Maximum duration of a TLS handshake, in milliseconds. */
const HANDSHAKE_MS = 5_000
/** Interval of the check for slow requests, in milliseconds. */
const CHECK_MS = 1_000
/** Time for requests in progress at shutdown, in milliseconds. */
const CLOSE_MS = 2_000

/**
 * Listens at once, so that an occupied port is reported; TLS handshakes fail until a certificate is set.
 *
 * @throws {AppError} PORT_IN_USE
 */
export async function openWebhookServer({ host, port }: WebhookListen, handler: WebhookHandler): Promise<WebhookServer> {
  const times = { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, connectionsCheckingInterval: CHECK_MS }
  const server = createServer({ minVersion: 'TLSv1.2', handshakeTimeout: HANDSHAKE_MS, ...times }, (request, response) => {
    response.once('close', () => idle.restore(request))
    void answer({ handler, receive, quota, onReceived: () => idle.release(request) }, request, response)
  })
  const idle = limitConnections(server, limits)
  const receive = receiveBodies()
  const quota = createQuota(REVIEWS_OF_ADDRESS)
  // TLS errors are errors of the client: close the connection without logging.
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: Error & { readonly code?: string }) =>
      reject(error.code === 'EADDRINUSE' ? inUse({ host, port }, error) : error),
    )
    server.listen({ host, port }, resolve)
  })
  const { address, port: taken, family } = server.address() as AddressInfo
  return {
    url: `https://${family === 'IPv6' ? `[${address}]` : address}:${taken}`,
    use: (certificate) => server.setSecureContext({ ...certificate, minVersion: 'TLSv1.2' }),
    async close() {
      const late = setTimeout(() => server.closeAllConnections(), CLOSE_MS)
      await new Promise<void>((resolve) => server.close(() => resolve()))
      clearTimeout(late)
    },
  }
}

interface Answering {
  readonly handler: WebhookHandler
  readonly receive: ReceiveBody
  /** Limits concurrent reviews by address. */
  readonly quota: Quota
  onReceived(): void
}

async function answer(
  { handler, receive, quota, onReceived }: Answering,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort(new Error('the API server has disconnected')))
  const say = (status: number, body: string): void =>
    void response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(body)
  if (request.method !== 'POST') return say(405, '{"message":"only POST is supported"}\n')
  try {
    const body = await receive(request)
    if (body === undefined) return say(413, '{"message":"the review is too large"}\n')
    const giveBack = quota.take(request.socket.remoteAddress ?? '')
    if (giveBack === null) return say(429, '{"message":"too many concurrent reviews from this address"}\n')
    onReceived()
    const { status, body: text } = await handler(request.url ?? '/', body, gone.signal).finally(giveBack)
    say(status, text)
  } catch {
    // The connection is broken and cannot be answered.
    response.destroy()
  }
}

function inUse({ host, port }: WebhookListen, cause: Error): AppError {
  return new AppError('PORT_IN_USE', `another program listens on port ${port} of ${host}`, {
    details: { port },
    hint: 'Choose another --webhook-port; 0 picks a free one.',
    cause,
  })
}
