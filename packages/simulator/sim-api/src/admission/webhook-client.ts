import { request as httpsRequest } from 'node:https'
import { type Clock, systemClock } from '@tranche/clock'
import { bodyText, type Exchange } from '@tranche/wire'
import type { WebhookTarget } from './webhook-configuration.ts'

/** How webhooks are reached. */
export interface WebhookOptions {
  /** @returns address of a service; undefined: unreachable. @default every service is unreachable */
  readonly resolveService?: (service: NonNullable<WebhookTarget['service']>) => { readonly host: string; readonly port: number } | undefined
  /** @returns handler of a URL in this process, without a socket; undefined: called over HTTPS */
  readonly exchangeFor?: (url: string) => Exchange | undefined
  /** Called before a webhook call; its result is called after the response. A virtual clock is stopped in between. */
  readonly hold?: () => () => void
  /** Measures the duration of webhook calls. @default the system's clock: webhooks respond in real time */
  readonly clock?: Clock
}

/** Sends one AdmissionReview. @returns the raw response. Rejects with an error in the words of the real API server */
export type CallWebhook = (target: WebhookTarget, timeoutSeconds: number, body: string) => Promise<WebhookAnswer>

/** HTTP response. */
export interface WebhookAnswer {
  readonly status: number
  readonly body: string
}

/** @returns client that calls webhooks over HTTPS, or in process when a handler exists for the URL */
export function createWebhookClient(options: WebhookOptions = {}): CallWebhook {
  const { hold = () => () => undefined } = options
  return async (target, timeoutSeconds, body) => {
    const text = `${target.url}?timeout=${timeoutSeconds}s`
    const url = new URL(text)
    const release = hold()
    try {
      return await withDeadline(options.clock ?? systemClock, timeoutSeconds * 1000, (signal) =>
        send(options, target, { url, body, signal }),
      )
    } catch (error) {
      throw new Error(`Post ${JSON.stringify(text)}: ${faultText(error, url)}`, { cause: error })
    } finally {
      release()
    }
  }
}

const LARGEST_ANSWER = 16 * 1024 * 1024

interface Sending {
  readonly url: URL
  readonly body: string
  readonly signal: AbortSignal
}

async function send(options: WebhookOptions, target: WebhookTarget, { url, body, signal }: Sending): Promise<WebhookAnswer> {
  const exchange = options.exchangeFor?.(target.url)
  if (exchange === undefined) return sendOverHttps(options, target, { url, body, signal })
  const answer = await exchange({ method: 'POST', path: `${url.pathname}${url.search}`, headers, body }, signal)
  return { status: answer.status, body: await bodyText(answer) }
}

const headers = { 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'kube-apiserver-admission' }

function sendOverHttps(options: WebhookOptions, target: WebhookTarget, { url, body, signal }: Sending): Promise<WebhookAnswer> {
  const { service, caBundle } = target
  const at =
    service === undefined
      ? { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 443) }
      : options.resolveService?.(service)
  if (at === undefined) return Promise.reject(new Error(`service ${JSON.stringify(service!.name)} not found`))
  const isName = !/^[\d.]+$|:/.test(url.hostname)
  const { promise, resolve, reject } = Promise.withResolvers<WebhookAnswer>()
  const sent = httpsRequest({
    ...at,
    method: 'POST',
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, host: url.host, 'content-length': Buffer.byteLength(body) },
    signal,
    agent: false,
    ...(isName && { servername: url.hostname }),
    ...(caBundle !== undefined && { ca: caBundle }),
  })
  sent.once('error', reject)
  sent.once('response', (response) => {
    const chunks: Buffer[] = []
    let size = 0
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      if ((size += chunk.length) > LARGEST_ANSWER) sent.destroy(new Error('the response is too large'))
    })
    response.once('error', reject)
    response.once('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }))
  })
  sent.end(body)
  return promise
}

/** Thrown into a call that exceeds its timeout. */
class DeadlineError extends Error {}

async function withDeadline<T>(clock: Clock, ms: number, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = clock.setTimer(ms, () => {
    const error = new DeadlineError('context deadline exceeded')
    reject(error)
    controller.abort(error)
  })
  try {
    return await Promise.race([act(controller.signal), late])
  } finally {
    timer.cancel()
  }
}

/** Error text in the words of the real API server's HTTP client. */
function faultText(error: unknown, url: URL): string {
  const { code, message } = error as NodeJS.ErrnoException
  const { address, port } = error as { readonly address?: string; readonly port?: number }
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${address ?? url.hostname}:${port ?? url.port}: connect: connection refused`
    case 'ENOTFOUND':
      return `dial tcp: lookup ${url.hostname}: no such host`
    case 'ECONNRESET':
      return 'EOF'
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'CERT_SIGNATURE_FAILURE':
      return 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
    case 'CERT_HAS_EXPIRED':
      return 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid'
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `tls: failed to verify certificate: x509: certificate is not valid for ${url.hostname}`
    default:
      return message
  }
}
