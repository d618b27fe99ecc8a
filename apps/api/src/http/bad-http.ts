import { valueIn } from '@tranche/kube-types'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from '@tranche/errors'
import type { ApiServer } from './create-server.ts'
import { PROBLEM_TYPE, problemDetailsOf } from './problems.ts'

/** Answers requests that are not valid HTTP with a problem, if the socket is still writable. */
export function answerBadHttp(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [status, detail] = valueIn(badHttp, error.code ?? '') ?? [400, 'The request is not HTTP/1.1.']
  const body = bodyOf(status, detail)
  const head = `HTTP/1.1 ${status} Bad Request\r\ncontent-type: ${PROBLEM_TYPE}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`
  socket.end(head + body)
}

/** Answers requests without a Host header, or with an unknown Expect header; Node.js would refuse them without a body. */
export function answerOddHttp(app: ApiServer): void {
  app.server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.from(bodyOf(417, 'The server does not support the value of the Expect header.'))
    response.writeHead(417, {
      'content-type': PROBLEM_TYPE,
      'content-length': body.byteLength,
      'x-content-type-options': 'nosniff',
      connection: 'close',
    })
    response.end(body)
  })
  app.addHook('onRequest', async ({ headers, raw }) => {
    if (headers.host === undefined && raw.httpVersion === '1.1')
      throw new AppError('REQUEST_INVALID', 'the request has no Host header', { hint: 'HTTP/1.1 requires it.' })
  })
}

const badHttp: Readonly<Record<string, readonly [number, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
  HPE_HEADER_OVERFLOW: [431, 'The headers of the request are too large.'],
}

function bodyOf(status: number, detail: string): string {
  return JSON.stringify({ ...problemDetailsOf('REQUEST_INVALID', detail, { instance: randomUUID() }), status })
}
