import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A message as a receiver got it. */
export interface Message {
  readonly path: string | undefined
  readonly type: string | undefined
  readonly body: Buffer
}

/** Receiver on 127.0.0.1 with scripted responses. */
export interface Receiver extends AsyncDisposable {
  readonly url: string
  readonly messages: readonly Message[]
}

/** @param answer null: none comes, ever */
export async function startReceiver(answer: (message: Message, nth: number) => number | null): Promise<Receiver> {
  const messages: Message[] = []
  const server = createServer((request, response) => void take(request, response))
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const message = { path: request.url, type: request.headers['content-type'], body: Buffer.concat(chunks) }
    const status = answer(message, messages.push(message))
    if (status !== null) response.writeHead(status).end()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    messages,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
