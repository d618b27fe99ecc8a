import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AppError } from '@tranche/errors'
import type { HealthOptions } from '../options/health-options.ts'
import type { ProgramHealth } from './program-health.ts'

/** Where kubelets ask. */
export interface HealthServer {
  readonly url: string
  close(): Promise<void>
}

/** A sender that takes longer (ms) is no probe. */
const REQUEST_MS = 10_000

/**
 * Answers `GET /healthz` with 200 as long as the process answers at all, and `GET /readyz` with 200 once every program has seen
 * the cluster: a controller that does not lead is ready, since it can take over at once. Who leads is told beside it.
 *
 * @param programs by name, as they are when somebody asks
 * @throws {AppError} PORT_IN_USE
 */
export async function startHealth({ host, port }: HealthOptions, programs: ReadonlyMap<string, ProgramHealth>): Promise<HealthServer> {
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, ({ method, url }, response) => {
    if (method !== 'GET' && method !== 'HEAD') return answer(response, 405, { status: 'only GET is answered' })
    const path = url?.split('?')[0]
    if (path === '/healthz') return answer(response, 200, { status: 'ok' })
    if (path !== '/readyz') return answer(response, 404, { status: 'there are /healthz and /readyz' })
    const isReady = [...programs.values()].every((program) => program.isReady())
    answer(response, isReady ? 200 : 503, {
      status: isReady ? 'ok' : 'the first lists of the cluster have not arrived yet',
      programs: Object.fromEntries([...programs].map(([name, program]) => [name, wordFor(program)])),
    })
  })
  await listen(server, host, port)
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

function wordFor({ isReady, isLeading }: ProgramHealth): string {
  if (!isReady()) return 'starting'
  if (isLeading === undefined) return 'ready'
  return isLeading() ? 'leading' : 'standing by'
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(`${JSON.stringify(body)}\n`)
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: Error & { readonly code?: string }) =>
      reject(error.code === 'EADDRINUSE' ? inUse(host, port, error) : error),
    )
    server.listen({ host, port }, resolve)
  })
}

function inUse(host: string, port: number, cause: Error): AppError {
  return new AppError('PORT_IN_USE', `another program listens on port ${port} of ${host}`, {
    details: { port },
    hint: 'Choose another --health-port; 0 takes a free one.',
    cause,
  })
}
