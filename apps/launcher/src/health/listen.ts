import type { RequestListener } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import { AppError } from '@tranche/errors'

/** A running listener for probes or scrapes. */
export interface MonitoringServer {
  readonly url: string
  close(): Promise<void>
}

/** Address to listen on, and the option that sets it. */
export interface MonitoringServerOptions {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /** `--health-port`; named in the error if the port is in use. */
  readonly option: string
}

/** Timeout of a request, in milliseconds. */
const REQUEST_MS = 10_000
/** Interval of timeout checks, in milliseconds. */
const CHECK_MS = 1_000
/** Maximum number of open connections: probes and scrapes are few and short. */
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

/** Limits open connections: closes the oldest when there are too many, so that idle clients cannot exclude probes. */
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
