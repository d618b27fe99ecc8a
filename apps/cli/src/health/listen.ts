import type { RequestListener } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import { AppError } from '@tranche/errors'

/** Where a process answers programs that watch over it. */
export interface MonitoringServer {
  readonly url: string
  close(): Promise<void>
}

/** Where it listens, and which option says so. */
export interface MonitoringServerOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** `--health-port`: named where the port is taken. */
  readonly option: string
}

/** A sender that takes longer (ms) is no probe. */
const REQUEST_MS = 10_000
/** How often (ms) requests are looked at that take too long. */
const CHECK_MS = 1_000
/** Connections at a time: probes and scrapes are few, and short. */
const MOST_CONNECTIONS = 128

/**
 * Serves `answer` until closed.
 *
 * @throws {AppError} PORT_IN_USE
 */
export async function openMonitoringServer(
  { host, port, option }: MonitoringServerOptions,
  answer: RequestListener,
): Promise<MonitoringServer> {
  const times = { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, connectionsCheckingInterval: CHECK_MS }
  const server = createServer(times, answer)
  dropOldest(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: Error & { readonly code?: string }) =>
      reject(error.code === 'EADDRINUSE' ? inUse({ host, port, option }, error) : error),
    )
    server.listen({ host, port }, resolve)
  })
  const { address, port: taken, family } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`,
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      return closed
    },
  }
}

/** Connections that say nothing cost no memory without end, and shut no probe out: for one too many the oldest goes. */
function dropOldest(server: Server): void {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    if (open.size > MOST_CONNECTIONS) open.values().next().value?.destroy()
  })
}

function inUse({ host, port, option }: MonitoringServerOptions, cause: Error): AppError {
  return new AppError('PORT_IN_USE', `another process listens on port ${port} of ${host}`, {
    details: { port },
    hint: `Choose another ${option}; 0 picks a free port.`,
    cause,
  })
}
