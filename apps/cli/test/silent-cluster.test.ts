import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runAlone } from './run-alone.ts'

const folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
const kubeconfig = join(folder, 'kubeconfig.json')
const sockets = new Set<Socket>()
/** Accepts every connection, and answers nothing. */
let asked = 0
const silent = createServer((socket) => {
  sockets.add(socket)
  asked++
})

beforeAll(async () => {
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const cluster = { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'silent',
    clusters: [{ name: 'silent', cluster }],
    users: [{ name: 'me', user: {} }],
    contexts: [{ name: 'silent', context: { cluster: 'silent', user: 'me' } }],
  }
  writeFileSync(kubeconfig, JSON.stringify(config))
})
afterAll(() => {
  for (const socket of sockets) socket.destroy()
  silent.close()
  rmSync(folder, { recursive: true, force: true })
})

it.each(['doctor', 'list', 'get agent', 'plan agent'])(
  'a silent API server causes one line for %s, with a cause and a fix',
  async (line) => {
    let err = ''
    const io = { out: { write: () => {} }, err: { write: (text: string) => void (err += text) }, env: {} }
    await expect(runAlone([...line.split(' '), '--kubeconfig', kubeconfig, '--request-timeout', '100ms'], io)).resolves.toBe(1)
    expect(err).toMatch(/^API_DEADLINE: the API server http:\/\/127\.0\.0\.1:\d+ \(context silent\) does not answer: [^\n]+\n$/)
  },
)

it('status retries a silent API server until the timeout', async () => {
  let err = ''
  const io = { out: { write: () => {} }, err: { write: (text: string) => void (err += text) }, env: {} }
  const line = ['status', 'agent', '--kubeconfig', kubeconfig, '--request-timeout', '50ms', '--timeout', '1200ms']
  const before = asked
  await expect(runAlone(line, io)).resolves.toBe(4)
  expect(asked - before).toBeGreaterThan(1)
  expect(err).toMatch(/^(API_DEADLINE: [^\n]+\n)+$/)
})

it.each(['agent', 'daemonset/agent'])('status %s exits with 4 if its timeout elapses before that of a request', async (name) => {
  let err = ''
  const io = { out: { write: () => {} }, err: { write: (text: string) => void (err += text) }, env: {} }
  const line = ['status', name, '--kubeconfig', kubeconfig, '--request-timeout', '10m', '--timeout', '300ms']
  await expect(runAlone(line, io)).resolves.toBe(4)
  expect(err).toMatch(/^API_DEADLINE: no answer within the --timeout of 0\.3 s\. [^\n]+\n$/)
})

it('plan prints at a terminal that it waits for a silent API server', async () => {
  let err = ''
  const io = { out: { write: () => {} }, err: { isTTY: true, write: (text: string) => void (err += text) }, env: {} }
  await expect(runAlone(['plan', 'agent', '--kubeconfig', kubeconfig, '--request-timeout', '100ms'], io)).resolves.toBe(1)
  // Wrapped between words, with indented continuation lines.
  const error = expect.stringMatching(/^API_DEADLINE: [^\n]+\n( {2,}[^\n]+\n)*$/) as unknown
  expect(err.split('\r\u001b[K')).toEqual(['', 'reading the cluster', error])
})
