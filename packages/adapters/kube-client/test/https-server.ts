import 'reflect-metadata'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import * as x509 from '@peculiar/x509'

/** A real HTTPS server on loopback, and what it saw. */
export interface HttpsServer {
  readonly url: string
  /** PEM of its certificate, which signs itself. */
  readonly ca: string
  readonly key: string
  readonly sockets: ReadonlySet<Socket>
  /** Connections accepted so far. */
  connections(): number
  /** Breaks the connection of a request without good-bye (TCP RST). */
  reset(request: IncomingMessage): void
  close(): Promise<void>
}

/** Starts a server for `localhost` on a free port of 127.0.0.1. */
export async function startHttpsServer(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<HttpsServer> {
  const { cert, key } = await selfSigned()
  const server = createServer({ cert, key, requestCert: true, rejectUnauthorized: false }, handle)
  const sockets = new Set<Socket>()
  const rawSockets = new Map<number | undefined, Socket>()
  let accepted = 0
  server.on('connection', (socket: Socket) => rawSockets.set(socket.remotePort, socket))
  server.on('secureConnection', (socket: Socket) => {
    accepted++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const reset = (request: IncomingMessage): void => void rawSockets.get(request.socket.remotePort)?.resetAndDestroy()
  return { url, ca: cert, key, sockets, connections: () => accepted, reset, close: () => closeServer(server) }
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}

async function selfSigned(): Promise<{ readonly cert: string; readonly key: string }> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=test',
    notBefore: new Date(Date.now() - 60_000),
    notAfter: new Date(Date.now() + 3_600_000),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.SubjectAlternativeNameExtension([
        { type: 'ip', value: '127.0.0.1' },
        { type: 'dns', value: 'localhost' },
      ]),
    ],
  })
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64')
  return { cert: certificate.toString('pem'), key: `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n` }
}
