import 'reflect-metadata'
import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import * as x509 from '@peculiar/x509'
import { FakeClock, systemClock } from '@tranche/clock'
import { createKubeClient, createUndiciExchange, type LoadedCluster } from '@tranche/kube-client'
import { type Logger, silentLogger } from '@tranche/telemetry'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reachCluster } from '../src/processes/reach-cluster.ts'

const HOUR_MS = 3_600_000

interface Pair {
  readonly cert: string
  readonly key: string
}

let good: Pair
let server: Server
beforeAll(async () => {
  good = await selfSigned({})
  server = createServer(good, (_request, response) => response.end('{}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

describe('an API server with a certificate that', () => {
  it.each([
    ['has expired', { notAfterMs: Date.now() - HOUR_MS }, true, /expired/],
    ['another authority has signed', {}, false, /self-signed|unable to verify|signature/],
    ['was made for another host', { host: 'elsewhere.example' }, true, /altnames|Host|IP: 127\.0\.0\.1/],
  ] as const)(
    '%s is retried: an error says what to check, and the process continues once it is fixed',
    async (_, choice, isKnown, says) => {
      const wrong = await selfSigned(choice)
      server.setSecureContext(wrong)
      server.closeAllConnections()
      const { port } = server.address() as AddressInfo
      const url = `https://127.0.0.1:${port}`
      const cluster: LoadedCluster = {
        ...{ server: url, context: 'production', namespace: 'default' },
        credentials: async () => ({ ca: isKnown ? `${good.cert}\n${wrong.cert}` : good.cert, headers: {} }),
      }
      const { exchange, close } = createUndiciExchange(cluster)
      const client = createKubeClient({ exchange, clock: systemClock, log: silentLogger, userAgent: 'test/1' })
      const clock = new FakeClock()
      const lines: { readonly level: string; readonly hint?: string; readonly err?: Error }[] = []
      const wasSaid = Promise.withResolvers<void>()
      const log = (level: string) => (fields: object) => {
        lines.push({ level, ...fields })
        wasSaid.resolve()
      }
      const logger = { error: log('error'), warn: log('warn'), info: log('info') } as unknown as Logger
      const reached = reachCluster(cluster, { client, clock, log: logger, signal: new AbortController().signal })
      await wasSaid.promise
      expect(lines).toEqual([
        expect.objectContaining({ level: 'error', hint: expect.stringContaining('its expiry, its host names') as unknown }),
      ])
      expect(lines[0]?.err?.message).toMatch(says)
      server.setSecureContext(good)
      await clock.advanceAsync(1_000)
      await reached
      expect(lines.map(({ level }) => level)).toEqual(['error', 'info'])
      await close()
    },
  )
})

interface Choice {
  /** @default in an hour */
  readonly notAfterMs?: number
  /** @default 127.0.0.1 */
  readonly host?: string
}

/** A certificate that is its own authority. */
async function selfSigned({ notAfterMs = Date.now() + HOUR_MS, host }: Choice): Promise<Pair> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${randomUUID()}`,
    notBefore: new Date(notAfterMs - 2 * HOUR_MS),
    notAfter: new Date(notAfterMs),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.SubjectAlternativeNameExtension([host === undefined ? { type: 'ip', value: '127.0.0.1' } : { type: 'dns', value: host }]),
    ],
  })
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64')
  return { cert: certificate.toString('pem'), key: `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n` }
}
