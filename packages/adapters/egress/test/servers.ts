import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server on loopback, and what it was sent. */
export interface TestServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  readonly port: number
  readonly requests: readonly IncomingMessage[]
  close(): Promise<void>
}

/** Answers one request. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

/** @returns a real server that answers by `answer` */
export async function startServer(answer: Answer): Promise<TestServer> {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
