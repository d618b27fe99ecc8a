import type { Server } from 'node:https'
import type { Socket } from 'node:net'

/** How many connections are open at a time, in all and from one address before they have spoken TLS. */
export interface ConnectionLimits {
  readonly total: number
  /** Of one address: the API server may be many clients behind one. */
  readonly silentPerAddress: number
}

/**
 * Keeps connections that say nothing from shutting others out: where there are too many of one address, or in all, the oldest that
 * has not finished its TLS handshake is dropped. Those that have are dropped for nobody; a new one is, where all have.
 */
export function limitConnections(server: Server, { total, silentPerAddress }: ConnectionLimits): void {
  const silent = new Map<string, Socket>()
  let open = 0
  server.on('connection', (socket: Socket) => {
    const key = keyOf(socket)
    open++
    silent.set(key, socket)
    socket.once('close', () => {
      open--
      silent.delete(key)
    })
    const ofAddress = [...silent.values()].filter(({ remoteAddress }) => remoteAddress === socket.remoteAddress)
    const oldest = ofAddress.length > silentPerAddress ? ofAddress[0] : open > total ? silent.values().next().value : undefined
    oldest?.destroy()
  })
  server.on('secureConnection', (socket) => silent.delete(keyOf(socket)))
}

/** Tells the same connection below and above TLS. */
function keyOf({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string {
  return `${remoteAddress} ${remotePort}`
}
