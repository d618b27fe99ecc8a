import { type Agent, type IncomingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'

/** What came back. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Of a stream its first message alone. */
  readonly text: string
}

/** What goes out. */
export interface Message {
  readonly url: string
  readonly method: string
  /** Path and query, sent as they are. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
  readonly isChunked: boolean
  readonly agent: Agent
}

/** Sends a request over a socket. @returns the answer; null where the server closed the connection without one */
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
    // Who refuses a body early need not read it to its end.
    sent.on('error', () => setImmediate(() => resolve(null)))
    sent.end(body)
  })
}

function isStream(headers: IncomingHttpHeaders): boolean {
  return headers['content-type']?.startsWith('text/event-stream') === true
}

/** Whether one event, or a sign of life, has come whole. */
function hasMessage(text: string): boolean {
  return /^(data|id|:).*\n\n/m.test(text)
}

/** Sends bytes that need be no HTTP, and ends. @returns all that comes back until the server closes */
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
