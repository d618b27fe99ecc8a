import { customResourceDefinitions, type Forecast, forecastSchema, type ProblemDetails } from '@tranche/api-schema'
import { systemClock } from '@tranche/clock'
import { createKubeClient, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { resources } from '@tranche/sim-api'
import { createSimulator, type Simulator } from '@tranche/sim'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RunningApi, startApi } from '../src/index.ts'
import { patient } from './fixtures.ts'
import { createPlanner } from '../src/plan/create-planner.ts'
import { planMemory } from '../src/limits/plan-memory.ts'

const key = { namespace: 'demo', name: 'agent' }
let simulator: Simulator
let api: RunningApi

beforeAll(async () => {
  simulator = createSimulator({ clock: systemClock, nodes: 4, speed: 100, watchDelayMs: 0, actors: { eve: { name: 'eve', groups: [] } } })
  const client = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock: systemClock, userAgent: 'test/1', log: silentLogger })
  await simulator.start()
  for (const definition of customResourceDefinitions) await client.create(resourcePaths.customResourceDefinitions, definition as never)
  await client.create(resourcePaths.namespaces, { metadata: { name: 'demo' } } as never)
  const labels = { app: 'agent' }
  const spec = { tolerations: [{ operator: 'Exists' }], containers: [{ name: 'agent', image: 'registry.example/agent:v1' }] }
  await client.create(resourcePaths.daemonSets, {
    metadata: key,
    spec: { selector: { matchLabels: labels }, updateStrategy: { type: 'OnDelete' }, template: { metadata: { labels }, spec } },
  } as never)
  await client.create(resourcePaths.rollouts, {
    metadata: key,
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
      strategy: { canary: { steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] } },
    },
  } as never)
  const options = { clock: systemClock, log: silentLogger, port: 0, checkAnswers: true, limits: { ...patient, planNodes: 4 } }
  api = await startApi({ ...options, exchange: simulator.exchangeFor('tranche-api') })
  await api.ready
})

afterAll(async () => {
  await api.stop()
  simulator.stop()
})

async function plan(body: unknown, as = 'admin'): Promise<{ readonly status: number; readonly body: unknown }> {
  const headers = { authorization: `Bearer ${simulator.tokenFor(as)}`, 'content-type': 'application/json' }
  const answer = await fetch(`${api.url}/api/v1/namespaces/demo/rollouts/agent/plan`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: await answer.json() }
}

it('forecasts a release in its own thread', async () => {
  const { status, body } = await plan({ image: 'registry.example/agent:v2', if: ['1 crash'] })
  expect(status, JSON.stringify(body)).toBe(200)
  const forecast: Forecast = forecastSchema.parse(body)
  expect(forecast.nodes).toHaveLength(4)
  expect(forecast.outcome).toBe('Stops')
})

it('refuses an impossible request with a fix', async () => {
  const { status, body } = await plan({ if: ['node-77 fails'] })
  expect({ status, code: (body as ProblemDetails).code }).toEqual({ status: 422, code: 'FORECAST_INVALID' })
  expect((body as ProblemDetails).detail).toContain('node-77')
  expect((await plan({ wenn: [] })).status).toBe(400)
})

it('forecasts only for callers that may get the Rollout', async () => {
  expect((await plan({}, 'eve')).status).toBe(403)
})

const planLimits = { planMs: 1_000, planNodes: 4, planCharacters: 1024 * 1024, planMebibytes: 512 }

it('runs one forecast at a time, lets four wait, and refuses the next', async () => {
  const client = { get: () => new Promise(() => {}) } as never
  const planner = createPlanner({ client, clock: systemClock, limits: planLimits })
  const { signal } = new AbortController()
  for (const by of ['ann', 'bob', 'cid', 'dan', 'eve']) void planner({ key, request: {}, mayGet: async () => true, by }, signal)
  await expect(planner({ key, request: {}, mayGet: async () => true, by: 'fay' }, signal)).rejects.toMatchObject({ code: 'NOT_READY' })
})

it('frees the slot of a client that disconnects while it waits', async () => {
  const client = { get: () => new Promise(() => {}) } as never
  const planner = createPlanner({ client, clock: systemClock, limits: planLimits })
  const [staying, leaving] = [new AbortController(), new AbortController()]
  for (const by of ['ann', 'bob', 'cid', 'dan']) void planner({ key, request: {}, mayGet: async () => true, by }, staying.signal)
  const left = planner({ key, request: {}, mayGet: async () => true, by: 'eve' }, leaving.signal)
  leaving.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  void planner({ key, request: {}, mayGet: async () => true, by: 'eve' }, staying.signal)
  await expect(planner({ key, request: {}, mayGet: async () => true, by: 'fay' }, staying.signal)).rejects.toMatchObject({
    code: 'NOT_READY',
  })
})

it('allows one forecast per user at a time', async () => {
  const client = { get: () => new Promise(() => {}) } as never
  const planner = createPlanner({ client, clock: systemClock, limits: planLimits })
  const leaving = new AbortController()
  const first = planner({ key, request: {}, mayGet: async () => true, by: 'ann' }, leaving.signal)
  await expect(planner({ key, request: {}, mayGet: async () => true, by: 'ann' }, leaving.signal)).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    message: 'a forecast for user "ann" is already running or waiting',
  })
  leaving.abort(new Error('gone'))
  await expect(first).rejects.toThrow('gone')
  await expect(planner({ key, request: {}, mayGet: async () => true, by: 'ann' }, leaving.signal)).rejects.toThrow('gone')
})

it('refuses a forecast that needs too much memory, without crashing', async () => {
  const client = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock: systemClock, userAgent: 'test/1', log: silentLogger })
  const planner = createPlanner({ client, clock: systemClock, limits: { ...planLimits, planMs: 60_000, planMebibytes: 8 } })
  await expect(
    planner({ key, request: { image: 'registry.example/agent:v2' }, mayGet: async () => true, by: 'ann' }, new AbortController().signal),
  ).rejects.toMatchObject({
    code: 'FORECAST_INVALID',
    message: 'a forecast of 4 nodes needs more than the limit of 8 MiB of memory',
  })
})

it('refuses a forecast of an overfull namespace before its objects are in memory', async () => {
  const admin = simulator.clientFor({ name: 'admin' })
  const client = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock: systemClock, userAgent: 'test/1', log: silentLogger })
  const planner = createPlanner({ client, clock: systemClock, limits: { ...planLimits, planMs: 60_000 } })
  const asked = (): Promise<Forecast> =>
    planner({ key, request: { image: 'registry.example/agent:v2' }, mayGet: async () => true, by: 'ann' }, new AbortController().signal)
  const names = ['a', 'b', 'c', 'd']
  const secrets = [{ name: 'x'.repeat(300_000) }]
  for (const name of names) await admin.create(resources.serviceAccounts, { metadata: { name, namespace: 'demo' }, secrets } as never)
  await expect(asked()).rejects.toMatchObject({
    code: 'FORECAST_INVALID',
    message: 'the pods, revisions, service accounts, quotas and limits of the namespace exceed 1 MiB',
  })
  for (const name of names) await admin.delete(resources.serviceAccounts, name, 'demo')
  expect((await asked()).nodes).toHaveLength(4)
})

it.each([
  ['no limit', 0, 1_536],
  ['no limit, reported as the largest number', 2 ** 64, 1_536],
  ['a limit of 768 MiB', 768 * 2 ** 20, 448],
  ['a limit that leaves almost nothing', 256 * 2 ** 20, 64],
])('limits the memory of a forecast by the container: %s', (_name, limitBytes, mebibytes) => {
  expect(planMemory(limitBytes)).toBe(mebibytes)
})
