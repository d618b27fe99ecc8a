import { type Agent, type IncomingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'

/** Received answer. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Body; of a stream only the first message. */
  readonly text: string
}

/** Request to send. */
export interface Message {
  readonly url: string
  readonly method: string
  /** Path and query, sent verbatim. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
  readonly isChunked: boolean
  readonly agent: Agent
}

/** Sends a request over a socket. @returns the answer; null if the server closed the connection without one */
export function send({ url, method, target, headers, body, isChunked, agent }: Message): Promise<Answer | null> {
  const { hostname, port } = new URL(url)
  const length = body === undefined ? {} : isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(body.byteLength) }
  return new Promise((resolve) => {
    const sent = request({ hostname, port, method, path: target, headers: { ...headers, ...length }, agent }, (response) => {
      const { statusCode: status = 0, headers: got } = response
      let text = ''
      const done = (): void => resolve({ status, headers: got, text })
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        if (!isStream(got) || !hasMessage(text)) return
        done()
        response.destroy()
      })
      response.once('end', done)
      response.once('error', done)
    })
    // A server that refuses a body early does not have to read the rest.
    sent.on('error', () => setImmediate(() => resolve(null)))
    sent.end(body)
  })
}

function isStream(headers: IncomingHttpHeaders): boolean {
  return headers['content-type']?.startsWith('text/event-stream') === true
}

/** Whether a complete event or heartbeat has arrived. */
function hasMessage(text: string): boolean {
  return /^(data|id|:).*\n\n/m.test(text)
}

/** Sends arbitrary bytes and half-closes. @returns everything received until the server closes */
export function sendBytes(url: string, bytes: Uint8Array): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    let text = ''
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.end(bytes))
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => void (text += String(chunk)))
    socket.on('error', () => {})
    socket.once('close', () => resolve(text))
  })
}
