import type { IncomingMessage } from 'node:http'
import type { Server, Socket } from 'node:net'

/** Limits on connections that serve no released request. */
export interface ConnectionLimits {
  /** Maximum number of connections in total. */
  readonly connections: number
  /** Maximum number of connections per address. */
  readonly connectionsOfAddress: number
  /** Groups IP addresses into one address. @default the address itself */
  readonly addressOf?: (ip: string) => string
}

/** Counts silent, half-open and idle connections. */
export interface IdleConnections {
  /**
   * Marks a request that may take its time (its client is authenticated, or it has arrived): its connection does not count until {@link
   * restore}.
   */
  release(request: Pick<IncomingMessage, 'socket'>): void
  /** Marks a request as answered: its connection counts again, as the newest. */
  restore(request: Pick<IncomingMessage, 'socket'>): void
}

/**
 * Bounds the memory of silent, half-open and idle connections. Each connection counts from the moment it opens, before TLS, except while it
 * serves a released request.
 *
 * Above the maximum of an address, its connection that has had no new request for longest is closed. Above the total maximum, one of the
 * address with the most connections is closed.
 *
 * @param server HTTP or HTTPS server that is not listening yet
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
    // A closed socket no longer has an address.
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

/** Address, and the part that the connection has in common below and above TLS. */
type Names = readonly [address: string, connection: string]
