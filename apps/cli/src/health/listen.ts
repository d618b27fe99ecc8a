import type { RequestListener } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AppError } from '@tranche/errors'

/** Where a process answers programs that watch over it. */
export interface Door {
  readonly url: string
  close(): Promise<void>
}

/** Where it listens, and which option says so. */
export interface DoorOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** `--health-port`: named where the port is taken. */
  readonly option: string
}

/** A sender that takes longer (ms) is no probe. */
const REQUEST_MS = 10_000

/**
 * Serves `answer` until closed.
 *
 * @throws {AppError} PORT_IN_USE
 */
export async function openDoor({ host, port, option }: DoorOptions, answer: RequestListener): Promise<Door> {
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, answer)
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

function inUse({ host, port, option }: DoorOptions, cause: Error): AppError {
  return new AppError('PORT_IN_USE', `another program listens on port ${port} of ${host}`, {
    details: { port },
    hint: `Choose another ${option}; 0 takes a free one.`,
    cause,
  })
}
