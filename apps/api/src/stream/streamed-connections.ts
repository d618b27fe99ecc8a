import type { IncomingMessage } from 'node:http'
import type { Server, Socket } from 'node:net'

/** Keeps requests from waiting behind a stream on its connection. */
export interface StreamedConnections {
  /** Marks a request whose answer is a stream. Closes its connection if another request waits behind it, or as soon as one arrives. */
  add(request: IncomingMessage): void
  /** Marks the stream of a request as ended: its connection takes requests again. */
  delete(request: IncomingMessage): void
}

/**
 * Finds requests behind a stream, which could never be answered. Node.js stops reading from a connection with too many unsent answers, and
 * then does not notice that its client has disconnected.
 *
 * @param server HTTP or HTTPS server that is not listening yet
 */
export function createStreamedConnections(server: Server): StreamedConnections {
  const newest = new WeakMap<Socket, IncomingMessage>()
  const streamed = new WeakSet<Socket>()
  server.prependListener('request', (request: IncomingMessage) => {
    const { socket } = request
    newest.set(socket, request)
    if (streamed.has(socket)) socket.destroy()
  })
  return {
    add(request) {
      const { socket } = request
      streamed.add(socket)
      if (newest.get(socket) !== request) socket.destroy()
    },
    delete: ({ socket }) => void streamed.delete(socket),
  }
}
