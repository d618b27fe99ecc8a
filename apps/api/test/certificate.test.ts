import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCertificate } from '@tranche/certificates'
import { FakeClock } from '@tranche/clock'
import type { Logger } from '@tranche/telemetry'
import { createSimulator } from '@tranche/sim'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi } from '../src/index.ts'
import { patient } from './fixtures.ts'

const LOOK_MS = 10_000
const owner = { of: 'the REST API', options: { cert: '--tls-cert-file', key: '--tls-key-file' } }

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-tls-'))
  for (const name of ['first', 'second']) make(name)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the REST API with a certificate', () => {
  it('speaks TLS, uses a new certificate for new connections, and keeps the last one if the new one is invalid', async () => {
    const { url, clock, lines, stop } = await start('first')
    try {
      expect(await ask(url, 'first')).toBe(200)
      await expect(ask(url, 'second')).rejects.toThrow(/self-signed|certificate/)
      use('second')
      clock.advance(LOOK_MS)
      expect(await ask(url, 'second')).toBe(200)
      writeFileSync(join(folder, 'tls.crt'), 'half of it')
      clock.advance(LOOK_MS)
      clock.advance(LOOK_MS)
      expect(await ask(url, 'second')).toBe(200)
      expect(lines).toEqual(['info reloaded certificate', 'error could not load certificate; keeping the previous one'])
    } finally {
      await stop()
    }
  })

  it('logs once that its certificate expires soon, and once that it has expired', async () => {
    const { clock, lines, stop } = await start('first', endOf('first') - 2 * LOOK_MS)
    for (let look = 0; look < 4; look++) clock.advance(LOOK_MS)
    await stop()
    expect(lines).toEqual(['warn certificate expires soon', 'error certificate has expired'])
  })

  it.each([
    ['a missing file', 'nothing', 'first.key', '--tls-cert-file does not take'],
    ['the key of another certificate', 'first.crt', 'second.key', 'are not a certificate and its key'],
    ['a key in place of the certificate', 'first.key', 'first.key', 'are not a certificate and its key'],
  ])('does not start with %s', (_what, cert, key, message) => {
    expect(() => readCertificate({ certFile: join(folder, cert), keyFile: join(folder, key) }, owner)).toThrow(message)
  })
})

/** Creates a self-signed certificate, valid for a year. */
function make(name: string): void {
  const files = ['-keyout', join(folder, `${name}.key`), '-out', join(folder, `${name}.crt`)]
  const about = ['-days', '365', '-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', ...about, ...files], {
    stdio: 'pipe',
  })
}

/** Epoch milliseconds. */
function endOf(name: string): number {
  return Date.parse(new X509Certificate(readFileSync(join(folder, `${name}.crt`))).validTo)
}

function use(name: string): void {
  for (const part of ['key', 'crt']) writeFileSync(join(folder, `tls.${part}`), readFileSync(join(folder, `${name}.${part}`)))
}

async function start(name: string, nowMs = Date.now()) {
  use(name)
  const clock = new FakeClock(nowMs)
  const lines: string[] = []
  const say =
    (level: string) =>
    (_fields: object, message: string): void =>
      void (message.includes('certificate') && lines.push(`${level} ${message}`))
  const log: Logger = { debug: () => {}, info: say('info'), warn: say('warn'), error: say('error'), child: () => log }
  const simulator = createSimulator({ clock, nodes: 0 })
  const tls = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') }
  const api = await startApi({ exchange: simulator.exchangeFor('tranche-api'), clock, log, port: 0, tls, limits: patient })
  api.ready.catch(() => {})
  api.stopped.catch(() => {})
  return { url: api.url, clock, lines, stop: () => api.stop() }
}

/** @returns the status of a request by a client that trusts only this certificate */
function ask(url: string, trusted: string): Promise<number | undefined> {
  expect(url).toMatch(/^https:/)
  const ca = readFileSync(join(folder, `${trusted}.crt`))
  return new Promise((resolve, reject) => {
    get(`${url}/healthz`, { ca, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).on('error', reject)
  })
}
