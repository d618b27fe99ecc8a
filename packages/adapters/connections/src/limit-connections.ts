import type { IncomingMessage } from 'node:http'
import type { Server, Socket } from 'node:net'

/** Limits on connections that serve no request which their server has released. */
export interface ConnectionLimits {
  /** Maximum in all. */
  readonly connections: number
  /** Maximum of one address. */
  readonly connectionsOfAddress: number
  /** What counts as one address. @default the address itself */
  readonly addressOf?: (ip: string) => string
}

/** Connections that are silent, half-open or idle. */
export interface IdleConnections {
  /** The request may take its time (its client is authenticated, or it has arrived): its connection does not count until {@link restore}. */
  release(request: Pick<IncomingMessage, 'socket'>): void
  /** The request is answered: its connection counts again, as the newest. */
  restore(request: Pick<IncomingMessage, 'socket'>): void
}

/**
 * Bounds the memory of silent, half-open and idle connections: each counts from the moment it opens, before TLS, except while it serves a
 * released request. Above the maximum of an address the connection is closed that has been without a new request for longest; above the
 * maximum in all that of the address with the most connections.
 *
 * @param server HTTP or HTTPS, before it listens
 */
export function limitConnections(server: Server, limits: ConnectionLimits): IdleConnections {
  const { connections, connectionsOfAddress, addressOf = (ip: string) => ip } = limits
  const byAddress = new Map<string, Map<string, Socket>>()
  const open = new Set<string>()
  let counted = 0

  function namesOf({ remoteAddress = '', remotePort }: Socket): Names {
    return [remoteAddress === '' ? '' : addressOf(remoteAddress), `${remoteAddress} ${remotePort}`]
  }

  function count(socket: Socket): void {
    const [address, key] = namesOf(socket)
    if (!open.has(key)) return
    forget([address, key])
    const ofAddress = byAddress.get(address) ?? new Map<string, Socket>()
    byAddress.set(address, ofAddress.set(key, socket))
    counted++
    if (ofAddress.size > connectionsOfAddress) closeOldest(ofAddress)
    else if (counted > connections) closeOldest(largest())
  }

  function forget([address, key]: Names): void {
    const ofAddress = byAddress.get(address)
    if (ofAddress?.delete(key) !== true) return
    counted--
    if (ofAddress.size === 0) byAddress.delete(address)
  }

  function closeOldest(ofAddress: ReadonlyMap<string, Socket>): void {
    const oldest = ofAddress.values().next().value
    if (oldest === undefined) return
    forget(namesOf(oldest))
    oldest.destroy()
  }

  function largest(): ReadonlyMap<string, Socket> {
    return [...byAddress.values()].reduce((most, one) => (one.size > most.size ? one : most))
  }

  server.on('connection', (socket: Socket) => {
    // A closed socket has no address any more.
    const names = namesOf(socket)
    const [, key] = names
    open.add(key)
    socket.once('close', () => {
      open.delete(key)
      forget(names)
    })
    count(socket)
  })
  server.prependListener('request', ({ socket }: IncomingMessage) => count(socket))
  return { release: ({ socket }) => forget(namesOf(socket)), restore: ({ socket }) => count(socket) }
}

/** Address, and what the same connection has in common below and above TLS. */
type Names = readonly [address: string, connection: string]
