import { type AddressInfo, createServer, type Server } from 'node:net'

/**
 * Answers like a Redis of a version that is no longer available, as far as the first check goes.
 *
 * @param knowsHello Redis 6.0 and newer do
 */
export async function startOldRedis(version: string, knowsHello: boolean): Promise<{ readonly port: number; close(): void }> {
  const answers: Readonly<Record<string, string>> = {
    HELLO: knowsHello ? '%1\r\n+proto\r\n:3\r\n' : '-ERR unknown command `HELLO`, with args beginning with: `3`, \r\n',
    INFO: bulk(`redis_version:${version}\r\nrole:master\r\nmaxmemory_policy:noeviction\r\n`),
  }
  const server: Server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (data) => {
      for (const [, name = ''] of data.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)\r\n/g))
        socket.write(answers[name.toUpperCase()] ?? '+OK\r\n')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() }
}

function bulk(text: string): string {
  return `$${Buffer.byteLength(text)}\r\n${text}\r\n`
}
