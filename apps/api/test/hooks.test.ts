import { createHmac } from 'node:crypto'
import { customResourceDefinitions, problemSchema, actionAnswerSchema } from '@tranche/api-schema'
import { systemClock } from '@tranche/clock'
import { createKubeClient, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { createSimulator } from '@tranche/sim'
import { resources } from '@tranche/sim-api'
import type { ActionOrder } from '@tranche/release-client'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startApi } from '../src/index.ts'
import { aSummary, type ApiStage, startTestApi, patient, readsOf } from './fixtures.ts'

const KEY = 'a key of thirty-two bytes or more'
const allowed = { 'tranche.dev/hook-rollout': 'agent', 'tranche.dev/hook-actions': 'approve, abort' }
const message = { id: 'run-42', action: 'approve', expectedStep: 1, reason: 'tests are green' }

function signed(body: string, seconds: number, key = KEY): Readonly<Record<string, string>> {
  const digest = createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex')
  return { 'content-type': 'application/json', 'x-tranche-signature': `t=${seconds},v1=${digest}` }
}

function secret(name: string, more: { readonly annotations?: object; readonly labels?: object; readonly key?: string } = {}): never {
  const { annotations = allowed, labels = { 'tranche.dev/hook': 'true' }, key = KEY } = more
  return { metadata: { name, namespace: 'demo', annotations, labels }, data: { key: Buffer.from(key).toString('base64') } } as never
}

describe('a message to a hook', () => {
  let stage: ApiStage
  const orders: ActionOrder[] = []
  let synced = true

  beforeAll(async () => {
    stage = await startTestApi(readsOf([aSummary(), aSummary({ name: 'logs', daemonSet: 'log-agent' })]), {
      parts: {
        isSynced: () => synced,
        carryOut: async (order) => {
          orders.push(order)
          return { id: 'hook-1', type: order.type, state: 'accepted', message: 'written', repeated: false }
        },
      },
    })
    const admin = stage.simulator.clientFor({ name: 'admin' })
    const put = (object: never): Promise<unknown> => admin.create(resources.secrets, object)
    await put(secret('ci'))
    await put(secret('logs', { annotations: { 'tranche.dev/hook-daemonset': 'log-agent', 'tranche.dev/hook-actions': 'pause' } }))
    await put(secret('lost', { annotations: { 'tranche.dev/hook-daemonset': 'absent', 'tranche.dev/hook-actions': 'pause' } }))
    await put(secret('mute', { annotations: { 'tranche.dev/hook-rollout': 'agent' } }))
    await put(secret('plain', { labels: {} }))
    await put(secret('short', { key: 'too short' }))
    await put(secret('both', { annotations: { ...allowed, 'tranche.dev/hook-daemonset': 'agent' } }))
  })
  beforeEach(() => {
    orders.length = 0
    stage.clock.advance(10_000)
    stage.breakReviews(null)
    synced = true
  })
  afterAll(() => stage.end())

  async function send(
    hook: string,
    body: string,
    headers = signed(body, now()),
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    const url = `/api/v1/namespaces/demo/hooks/${hook}`
    const remoteAddress = `127.0.1.${++sender % 250}`
    const answer = await stage.app.inject({ method: 'POST', url, headers, payload: body, remoteAddress })
    return { status: answer.statusCode, body: answer.json() }
  }
  let sender = 0
  const now = (): number => Math.floor(stage.clock.nowMs() / 1000)

  it('is executed as an action of the hook, with its id as idempotency key', async () => {
    const answer = await send('ci', JSON.stringify(message))
    expect(answer.status).toBe(202)
    expect(actionAnswerSchema.parse(answer.body)).toMatchObject({ type: 'approve', state: 'accepted' })
    expect(orders).toEqual([
      {
        on: 'Rollout',
        key: { namespace: 'demo', name: 'agent' },
        type: 'approve',
        body: { expectedStep: 1, reason: 'tests are green' },
        by: 'hook:ci',
        via: 'hook',
        from: expect.stringContaining('127.0.1.') as unknown,
        idempotencyKey: 'run-42',
        repeatableSinceMs: (now() - 300) * 1000,
        waitMs: 0,
      },
    ])
  })

  it('reaches the Rollout of the DaemonSet that the hook names', async () => {
    expect((await send('logs', JSON.stringify({ id: '1', action: 'pause' }))).status).toBe(202)
    expect(orders).toMatchObject([{ key: { namespace: 'demo', name: 'logs' } }])
    expect((await send('lost', JSON.stringify({ id: '1', action: 'pause' }))).body).toMatchObject({ code: 'ROLLOUT_NOT_FOUND' })
  })

  it('needs the initial lists for a DaemonSet, not for a Rollout', async () => {
    synced = false
    expect((await send('logs', JSON.stringify({ id: '1', action: 'pause' }))).body).toMatchObject({ code: 'NOT_READY', status: 503 })
    expect((await send('ci', JSON.stringify(message))).status).toBe(202)
  })

  const body = JSON.stringify(message)
  it.each<[string, { readonly hook?: string; readonly body?: string; readonly headers?: () => Readonly<Record<string, string>> }]>([
    ['without a signature', { headers: () => ({ 'content-type': 'application/json' }) }],
    ['signed with another key', { headers: () => signed(body, now(), `${KEY}!`) }],
    ['whose body was changed', { headers: () => signed(`${body} `, now()) }],
    ['whose time was changed', { headers: () => ({ ...signed(body, now() - 100), ...at(now(), signed(body, now() - 100)) }) }],
    ['signed more than five minutes ago', { headers: () => signed(body, now() - 301) }],
    ['signed more than five minutes ahead', { headers: () => signed(body, now() + 301) }],
    ['to a hook that is not there', { hook: 'absent' }],
    ['to an invalid Secret name', { hook: '..%2f..%2fpods' }],
    ['to a Secret without the label', { hook: 'plain' }],
    ['to a hook with a short key', { hook: 'short', headers: () => signed(body, now(), 'too short') }],
    ['to a hook with two targets', { hook: 'both' }],
    ['to a hook that allows nothing', { hook: 'mute' }],
    ['with an action that the hook does not allow', { body: JSON.stringify({ id: '2', action: 'promote' }) }],
  ])('is refused without a reason: %s', async (_name, { hook = 'ci', body: sent = body, headers }) => {
    const answer = await send(hook, sent, headers?.())
    const { instance: _id, ...problem } = problemSchema.parse(answer.body)
    expect({ status: answer.status, problem, orders }).toEqual({
      status: 401,
      problem: {
        type: '/errors/HOOK_REFUSED',
        title: 'A message to a hook has an invalid signature, asks for an action that the hook does not allow, or names an unknown hook.',
        status: 401,
        code: 'HOOK_REFUSED',
        detail: 'the hook refused the message. Check the hook name, key, timestamp and action. The API log has the reason.',
      },
      orders: [],
    })
  })

  it('is refused if the API may not read the Secret, and can be retried if the read failed', async () => {
    stage.breakReviews('failing')
    expect((await send('ci', body)).body).toMatchObject({ code: 'HOOK_REFUSED' })
    stage.breakReviews('gone')
    expect((await send('ci', body)).body).toMatchObject({ code: 'REVIEW_UNAVAILABLE', status: 503 })
    expect(orders).toEqual([])
  })

  it.each([
    ['no JSON', 'approve', 'REQUEST_INVALID', 400],
    ['a misspelt member', JSON.stringify({ ...message, expectedstep: 1 }), 'REQUEST_INVALID', 400],
    ['no id', JSON.stringify({ action: 'approve' }), 'REQUEST_INVALID', 400],
    ['more than 16 KiB', JSON.stringify({ ...message, reason: 'x'.repeat(17_000) }), 'BODY_TOO_LARGE', 413],
  ])('with a valid signature and %s gets the reason', async (_name, sent, code, status) => {
    expect((await send('ci', sent)).body).toMatchObject({ code, status })
    expect(orders).toEqual([])
  })

  it('is rate limited by address', async () => {
    const url = '/api/v1/namespaces/demo/hooks/ci'
    const statuses: number[] = []
    for (let sent = 0; sent < 12; sent++)
      statuses.push((await stage.app.inject({ method: 'POST', url, remoteAddress: '127.0.9.9', payload: {} })).statusCode)
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429])
  })
})

function at(seconds: number, headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { 'x-tranche-signature': (headers['x-tranche-signature'] ?? '').replace(/^t=\d+/, `t=${seconds}`) }
}

it('hooks are off by default', async () => {
  const stage = await startTestApi(readsOf([]), { parts: { hooks: undefined } })
  const answer = await stage.app.inject({ method: 'POST', url: '/api/v1/namespaces/demo/hooks/ci', payload: {} })
  expect(answer.json()).toMatchObject({ code: 'NOT_FOUND', detail: 'hooks are off. Start the API with --hooks.' })
  await stage.end()
})

it('a message that is sent twice, to any replica, is executed once', async () => {
  const simulator = createSimulator({ clock: systemClock, nodes: 0, watchDelayMs: 0 })
  const client = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock: systemClock, userAgent: 'test/1', log: silentLogger })
  for (const definition of customResourceDefinitions) await client.create(resourcePaths.customResourceDefinitions, definition as never)
  await client.create(resourcePaths.namespaces, { metadata: { name: 'demo' } } as never)
  const rollout = {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'Rollout',
    metadata: { name: 'agent', namespace: 'demo' },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
      strategy: { canary: { steps: [{ replicas: '100%' }] } },
    },
  }
  await client.create(resourcePaths.rollouts, rollout as never)
  await client.create(resourcePaths.secrets, secret('ci', { annotations: { ...allowed, 'tranche.dev/hook-actions': 'pause' } }))
  const options = {
    exchange: simulator.exchangeFor('tranche-api'),
    clock: systemClock,
    log: silentLogger,
    port: 0,
    hooks: true,
    limits: patient,
  }
  const replicas = [await startApi(options), await startApi(options)]

  const body = JSON.stringify({ id: 'run-42', action: 'pause', reason: 'tests are red' })
  const headers = signed(body, Math.floor(Date.now() / 1000))
  const answers: unknown[] = []
  for (const { url } of [...replicas, ...replicas])
    answers.push(await (await fetch(`${url}/api/v1/namespaces/demo/hooks/ci`, { method: 'POST', headers, body })).json())
  expect(answers).toMatchObject([{ repeated: false }, { repeated: true }, { repeated: true }, { repeated: true }])
  const { metadata, spec } = await client.get<{ metadata: { annotations: Record<string, string> }; spec: object }>(resourcePaths.rollouts, {
    namespace: 'demo',
    name: 'agent',
  })
  expect(spec).toMatchObject({ strategy: { paused: true } })
  expect(JSON.parse(metadata.annotations['tranche.dev/recorded-actions'] ?? '')).toEqual([
    expect.objectContaining({ type: 'pause', by: 'hook:ci', via: 'hook', from: '127.0.0.1', reason: 'tests are red' }),
  ])
  for (const replica of replicas) await replica.stop()
  simulator.stop()
})
