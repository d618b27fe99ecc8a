import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { run } from '@tranche/cli'
import { afterAll, beforeAll, expect, it } from 'vitest'

/** Clears the screen, and names the window. */
const STEERING = '\u001b[2J\u001b]0;owned\u0007\u009b31m'
const server = createServer((_request, response) => {
  const answer = { id: 'rest-1', type: 'pause', state: 'accepted', message: `waits for ${STEERING} node-1`, repeated: false }
  response.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
})

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => void server.close())

it('prints what the status of a Rollout says without what steers a terminal', async () => {
  let out = ''
  const io = { out: { write: (text: string) => void (out += text) }, err: { write: () => {} }, env: {} }
  const { port } = server.address() as AddressInfo
  await expect(run(['pause', 'agent', '-n', 'demo', '--server', `http://127.0.0.1:${port}`], io)).resolves.toBe(0)
  expect(out).toBe('demo/agent: pause accepted: waits for  [2J ]0;owned 31m node-1\n')
})
