import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { done } from './release-pictures.ts'
import { runAlone } from './run-alone.ts'

/** Clears the screen, and names the window. */
const STEERING = '\u001b[2J\u001b]0;owned\u0007\u009b31m'
/** A name that a server may return for an object. */
const foreign = { ...done.report, namespace: `demo${STEERING}`, name: `agent${STEERING}` }
/** As lists have them: with a name that becomes a line of its own, and a command to a shell. */
const { steps: _steps, conditions: _conditions, ...summary } = done.report
const listed = [
  { ...summary, name: 'agent\n$(touch owned);x' },
  { ...summary, name: 'agent-2', outcome: 'Done', daemonSet: `x\n$(touch owned)${STEERING}` },
]
const server = createServer((request, response) => {
  if (request.url?.startsWith('/api/v1/namespaces/demo/rollouts?') === true || request.url === '/api/v1/namespaces/demo/rollouts')
    return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ items: listed, total: 2 }))
  if (request.method === 'GET') return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(foreign))
  const answer = { id: 'rest-1', type: 'pause', state: 'accepted', message: `waits for ${STEERING} node-1`, repeated: false }
  response.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
})

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => void server.close())

it('prints the status of a Rollout without control characters', async () => {
  let out = ''
  const io = { out: { write: (text: string) => void (out += text) }, err: { write: () => {} }, env: {} }
  const { port } = server.address() as AddressInfo
  await expect(runAlone(['pause', 'agent', '-n', 'demo', '--server', `http://127.0.0.1:${port}`], io)).resolves.toBe(0)
  expect(out).toBe('demo/agent: pause accepted: waits for  [2J ]0;owned 31m node-1\n')
})

it('completes no word that contains special characters of a shell, and prints descriptions without control characters', async () => {
  let out = ''
  const io = { out: { write: (text: string) => void (out += text) }, err: { write: () => {} }, env: {} }
  const { port } = server.address() as AddressInfo
  const words = ['get', '-n', 'demo', '--server', `http://127.0.0.1:${port}`, '']
  await expect(runAlone(['__complete', '--directive', '--', ...words], io)).resolves.toBe(0)
  expect(out).toMatch(/^agent-2\t[^\n]+\n:4\n$/)
  expect(out.replaceAll(/[\n\t]/g, '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
})

it('prompts for a Rollout without control characters', async () => {
  let err = ''
  const input = Object.assign(Readable.from(['n\n']), { isTTY: true })
  const io = { in: input, out: { write: () => {} }, err: { write: (text: string) => void (err += text), isTTY: true }, env: {} }
  const { port } = server.address() as AddressInfo
  await expect(runAlone(['abort', 'agent', '-n', 'demo', '--no-color', '--server', `http://127.0.0.1:${port}`], io)).resolves.toBe(1)
  expect(err).toMatch(/\nabort demo [^\n]*\? \[y\/N\] Cancelled; nothing was changed\.\n$/)
  expect(err.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
})

it.each(['json', 'yaml'])('escapes control characters of -o %s on a terminal, but not in a pipe', async (format) => {
  const { port } = server.address() as AddressInfo
  const printed = async (isTTY: boolean): Promise<string> => {
    let out = ''
    const io = { out: { write: (text: string) => void (out += text), isTTY }, err: { write: () => {} }, env: {} }
    const line = ['status', 'agent', '-n', 'demo', '--timeout', '0', '-o', format, '--server', `http://127.0.0.1:${port}`]
    await runAlone(line, io)
    return out
  }
  const [terminal, pipe] = [await printed(true), await printed(false)]
  expect(terminal.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  expect(terminal).toContain('\\u009b31m')
  expect(parse(pipe)).toMatchObject({ name: foreign.name })
})
