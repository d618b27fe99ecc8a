import { FakeClock } from '@tranche/clock'
import { createKubeClient } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { expect, it } from 'vitest'
import { createSecretReader } from '../src/ports/secret-reader.ts'

const never = new AbortController().signal
const paths: string[] = []
const client = createKubeClient({
  exchange: async ({ path }) => {
    paths.push(path)
    const [status, body] = answers[path] ?? [404, { kind: 'Status', code: 404, reason: 'NotFound', message: 'not found' }]
    return {
      status,
      headers: { 'content-type': 'application/json' },
      body: (async function* () {
        yield JSON.stringify(body)
      })(),
    }
  },
  clock: new FakeClock(),
  userAgent: 'test/1',
  log: silentLogger,
})
const answers: Record<string, readonly [number, object]> = {
  '/api/v1/namespaces/demo/secrets/keys': [
    200,
    { metadata: { name: 'keys', labels: { 'tranche.dev/policy-secret': 'true' } }, data: { token: 'Z3LDtsOfZXIK' } },
  ],
  '/api/v1/namespaces/demo/secrets/private': [200, { metadata: { name: 'private' }, data: { token: 'eA==' } }],
  '/api/v1/namespaces/demo/secrets/withdrawn': [
    200,
    { metadata: { name: 'withdrawn', labels: { 'tranche.dev/policy-secret': 'false' } }, data: { token: 'eA==' } },
  ],
  '/api/v1/namespaces/demo/secrets/locked': [
    403,
    { kind: 'Status', code: 403, reason: 'Forbidden', message: 'secrets "locked" is forbidden' },
  ],
}

it('reads a key as text, without a cache', async () => {
  const read = (): Promise<unknown> => createSecretReader(client).read({ namespace: 'demo', name: 'keys', key: 'token' }, never)
  expect([await read(), await read()]).toEqual([
    { kind: 'found', value: 'größer\n' },
    { kind: 'found', value: 'größer\n' },
  ])
  expect(paths).toHaveLength(2)
})

it.each([
  ['none', 'token', 'there is no Secret none in namespace demo', 'create it, or name another Secret'],
  ['keys', 'other', 'the Secret keys has no key other', 'add it, or name another key'],
  ['keys', 'constructor', 'the Secret keys has no key constructor', 'add it, or name another key'],
  ['locked', 'token', 'the controller may not read the Secret locked', 'allow the controller to get secrets in namespace demo'],
  ['private', 'token', noPolicyLabel('private'), labelCommand('private')],
  ['withdrawn', 'token', noPolicyLabel('withdrawn'), labelCommand('withdrawn')],
  ['private', 'whose existence is not revealed', noPolicyLabel('private'), labelCommand('private')],
])('says what is missing of Secret %s with key %s', async (name, key, message, fix) => {
  expect(await createSecretReader(client).read({ namespace: 'demo', name, key }, never)).toEqual({ kind: 'missing', message, fix })
})

function noPolicyLabel(name: string): string {
  return `the Secret ${name} in namespace demo has no label tranche.dev/policy-secret=true, so policies cannot use it`
}

function labelCommand(name: string): string {
  return `kubectl label secret ${name} -n demo tranche.dev/policy-secret=true`
}
