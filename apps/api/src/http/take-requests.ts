import type { ServerResponse } from 'node:http'
import type { ApiServer } from './create-server.ts'

/** A request without a socket. */
export interface HandedRequest {
  readonly method: 'GET' | 'POST'
  /** Path with query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

/** Complete answer to a {@link HandedRequest}. */
export interface HandedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Sends a request. Rejects if `signal` aborts before the answer; the server then treats the client as disconnected. */
export type SendRequest = (request: HandedRequest, signal: AbortSignal) => Promise<HandedAnswer>

/**
 * Lets a server take requests in process, without a socket. Must be called before the server is ready.
 *
 * Fastify's `inject` does not report a client that disconnects early; here the response is closed, as a socket would do.
 */
export function takeRequests(app: ApiServer): SendRequest {
  const responses = new Map<string, ServerResponse>()
  const senders = new Map<string, AbortSignal>()
  let taken = 0
  app.addHook('onRequest', async ({ id }, { raw }) => {
    responses.set(id, raw)
    if (senders.get(id)?.aborted === true) raw.destroy()
  })
  return async ({ method, path, headers, body }, signal) => {
    signal.throwIfAborted()
    const id = `handed-${++taken}`
    const goAway = (): void => void responses.get(id)?.destroy()
    senders.set(id, signal)
    signal.addEventListener('abort', goAway, { once: true })
    try {
      const given = { ...headers, 'x-request-id': id }
      const answer = await app.inject({ method, url: path, headers: given, ...(body !== undefined && { payload: body }) })
      return { status: answer.statusCode, headers: headersOf(answer.headers), body: answer.payload }
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    } finally {
      signal.removeEventListener('abort', goAway)
      responses.delete(id)
      senders.delete(id)
    }
  }
}

function headersOf(headers: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
