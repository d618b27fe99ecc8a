import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Certificate } from '@tranche/certificates'
import { createQuota, limitConnections, type Quota } from '@tranche/connections'
import { AppError } from '@tranche/errors'
import { receiveBodies, type ReceiveBody } from './receive-bodies.ts'
import type { WebhookHandler } from './webhook-handler.ts'

/** Where the webhooks listen. */
export interface WebhookListen {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
}

/** A server that speaks TLS, once it has a certificate. */
export interface WebhookServer {
  /** `https://127.0.0.1:9443` */
  readonly url: string
  /** Shows this certificate to whoever connects from now on. */
  use(certificate: Certificate): void
  /** Takes no more connections, lets requests under way end for a moment, then ends. */
  close(): Promise<void>
}

/** A sender that takes longer (ms) is no API server. */
const REQUEST_MS = 10_000
/** Connections that serve no review which has arrived, in all and of one address: the API server may be many clients behind one. */
const limits = { connections: 256, connectionsOfAddress: 128 }
/** Reviews of one address that are answered at a time: each may cost the API server a read. */
const REVIEWS_OF_ADDRESS = 32
/** A client that takes longer (ms) to speak TLS is no API server. */
const HANDSHAKE_MS = 5_000
/** How often (ms) requests are looked at that take too long. */
const CHECK_MS = 1_000
/** How long requests under way may take at the end, in milliseconds. */
const CLOSE_MS = 2_000

/**
 * Listens at once, so that a port that is taken is heard of; until a certificate is used nobody gets through.
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
  // Whoever connects without speaking TLS as we do: nothing of it is ours to mend.
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
  /** Of the reviews that are being answered, by address. */
  readonly quota: Quota
  onReceived(): void
}

async function answer(
  { handler, receive, quota, onReceived }: Answering,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort(new Error('the API server has gone')))
  const say = (status: number, body: string): void =>
    void response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(body)
  if (request.method !== 'POST') return say(405, '{"message":"only POST is answered"}\n')
  try {
    const body = await receive(request)
    if (body === undefined) return say(413, '{"message":"the review is too large"}\n')
    const giveBack = quota.take(request.socket.remoteAddress ?? '')
    if (giveBack === null) return say(429, '{"message":"too many reviews of this address are being answered"}\n')
    onReceived()
    const { status, body: text } = await handler(request.url ?? '/', body, gone.signal).finally(giveBack)
    say(status, text)
  } catch {
    // The connection broke: there is nobody to answer.
    response.destroy()
  }
}

function inUse({ host, port }: WebhookListen, cause: Error): AppError {
  return new AppError('PORT_IN_USE', `another program listens on port ${port} of ${host}`, {
    details: { port },
    hint: 'Choose another --webhook-port; 0 takes a free one.',
    cause,
  })
}
