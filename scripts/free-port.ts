/** Ports for programs that tests and benchmarks start, and that cannot pick one themselves. */
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'

/** The first port that Linux gives to clients, by default. */
const CLIENTS_FROM = 32_768
/** The fewest ports that chance needs to choose from. */
const FEWEST = 2_000

/** The ports to choose from. */
export interface PortRange {
  readonly lowest: number
  /** The first port above them. */
  readonly end: number
}

/**
 * Nothing else takes the port before a server starts: it is below those that Linux gives to clients. While this process runs, this
 * function returns it to no other one.
 *
 * @returns a free port of 127.0.0.1
 */
export async function freePort({ lowest, end }: PortRange = portsFor(firstOfClients())): Promise<number> {
  for (;;) {
    const port = randomInt(lowest, end)
    if ((await isReserved(port)) && (await isFree(port))) return port
  }
}

/** @returns the ports to choose from where clients are given those from `clients` on */
export function portsFor(clients: number): PortRange {
  const end = Math.min(clients, CLIENTS_FROM)
  const lowest = Math.max(1_024, end - 12_000)
  return end - lowest < FEWEST ? { lowest: CLIENTS_FROM - 12_000, end: CLIENTS_FROM } : { lowest, end }
}

function firstOfClients(): number {
  try {
    return Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10)
  } catch {
    // Other systems give clients ports from 49152.
    return CLIENTS_FROM
  }
}

/** The same port of UDP, which no server here uses, is the reservation: the kernel lifts it when this process ends. */
function isReserved(port: number): Promise<boolean> {
  const reservation = createSocket('udp4').unref()
  return new Promise((resolve) => {
    reservation.on('error', () => {
      reservation.close()
      resolve(false)
    })
    reservation.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true))
  })
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.on('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
