import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** Proxy to a server that can be cut: its connections are dropped, and new ones refused, until it is restored. */
export interface CuttableProxy {
  readonly port: number
  cut(): void
  restore(): void
  close(): void
}

/**
 * Forwards a free port of the loopback interface to `port`.
 *
 * @param first nothing of the first connection is forwarded before this resolves
 */
export async function startProxy(port: number, first: Promise<void> = Promise.resolve()): Promise<CuttableProxy> {
  const sockets = new Set<Socket>()
  let isCut = false
  let isFirst = true
  const server = createServer((client) => {
    if (isCut) return client.destroy()
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    const forwarded = isFirst ? first : Promise.resolve()
    isFirst = false
    void forwarded.then(() => client.pipe(upstream).pipe(client))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    restore: () => (isCut = false),
    close() {
      cut()
      server.close()
    },
  }
}
