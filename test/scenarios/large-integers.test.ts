import type { ActionAnswer } from '@tranche/api-schema'
import { createSharedClusterCache } from '@tranche/cluster'
import { startController } from '@tranche/controller'
import { startExecutor } from '@tranche/executor'
import { forecast } from '@tranche/forecast'
import { createKubeClient, resourcePaths } from '@tranche/kube-client'
import { type ActionOrder, carryOut, readSnapshot } from '@tranche/release-client'
import { silentLogger } from '@tranche/telemetry'
import type { Exchange } from '@tranche/wire'
import { afterEach, expect, it } from 'vitest'
import { deletions, expectKept } from './expect-kept.ts'
import { nodesOn, untilNodesOn, untilPausedAt } from './looks.ts'
import { drive, setStage, type Stage, type StageOptions } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '25%', pause: {} }, { replicas: '100%' }]
/** What the simulator holds for an integer that it cannot. */
const STAND_IN = '5000001'
const tolerations = [{ key: 'example.com/busy', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: Number(STAND_IN) }]

/** An API server whose integers have 64 bits. */
const holding = (digits: string): Pick<StageOptions, 'tap'> => ({
  tap: (_identity, exchange) => async (request, signal) => {
    const sent = request.body === undefined ? request : { ...request, body: request.body.replaceAll(digits, STAND_IN) }
    const response = await exchange(sent, signal)
    async function* body(): AsyncGenerator<string> {
      for await (const chunk of response.body) yield chunk.replaceAll(STAND_IN, digits)
    }
    return { ...response, body: body() }
  },
})

it.each(['9007199254740993', '9223372036854775807'])('an abort puts back a template that has the integer %s', async (digits) => {
  stage = await setStage({ nodes: 8, maxUnavailable: 2, steps, tolerations, ...holding(digits) })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const before = deletions(stage)
  const annotations = { 'tranche.dev/action': JSON.stringify({ id: 'stop', type: 'abort', expectedStep: 1 }) }
  await stage.patchRollout({ metadata: { annotations } })
  await untilNodesOn(stage, 'v1', 8)
  expect(deletions(stage) - before).toBe(2)
  expectKept(stage)
})

it('a version that fails is rolled back to a template that has the integer 9223372036854775807', async () => {
  const policy = { failure: { action: 'Rollback' } } as const
  stage = await setStage({ nodes: 8, maxUnavailable: 2, steps, policy, tolerations, ...holding('9223372036854775807') })
  await stage.setImage('v2-bad-crash')
  await untilNodesOn(stage, 'v2-bad-crash', 2)
  await untilNodesOn(stage, 'v1', 8)
  expect(await nodesOn(stage, 'v2-bad-crash')).toEqual([])
})

it.each(['pause', 'abort'] as const)(
  'a status with an integer that programs read as another one keeps no %s from being written',
  async (type) => {
    stage = await setStage({ nodes: 8, steps, tap: (_identity, exchange) => readingOther(exchange) })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    const body = { status: { releaseGeneration: Number(STAND_IN) } }
    await stage.client.patch(resourcePaths.rollouts, stageKey, { type: 'merge', body }, { subresource: 'status' })
    await stage.pass(120_000)
    expect(await ask(type)).toMatchObject({ type, state: 'acknowledged' })
    expectKept(stage)
  },
)

it.each(['pause', 'abort', 'approve'] as const)(
  'a status with an integer that cannot be written back keeps no %s from taking effect',
  async (type) => {
    stage = await setStage({ nodes: 8, steps, tap: (_identity, exchange) => rejecting(readingOther(exchange, TOO_GREAT)) })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    const body = { status: { releaseGeneration: Number(STAND_IN) } }
    await stage.client.patch(resourcePaths.rollouts, stageKey, { type: 'merge', body }, { subresource: 'status' })
    await stage.pass(10_000)
    // As kubectl does, without any test of the status.
    if (type === 'pause') await stage.patchRollout({ spec: { strategy: { paused: true } } })
    if (type === 'abort') await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': '{"id":"stop","type":"abort"}' } } })
    if (type === 'approve') await stage.approve()
    await stage.pass(600_000)
    const { status, metadata } = await stage.rollout()
    expect(status?.observedGeneration).toBe(metadata.generation)
    if (type === 'abort') expect(status?.lastAction).toMatchObject({ id: 'stop', result: 'Accepted' })
    if (type === 'approve') expect(status?.phase).toBe('Healthy')
    expectKept(stage)
  },
)

it.each(['9007199254740993', '9223372036854775807'])(
  'a plan predicts the release of a template that has the integer %s',
  async (digits) => {
    stage = await setStage({ nodes: 8, maxUnavailable: 2, steps, tolerations, ...holding(digits) })
    const exchange = holding(digits).tap!('admin', stage.simulator.exchangeFor('admin'))
    const client = createKubeClient({ exchange, clock: stage.clock, userAgent: 'tranche/1', log: silentLogger })
    const snapshot = await drive(stage.clock, readSnapshot(client, stageKey, { nowMs: stage.clock.nowMs() }))
    const programs = { createSharedClusterCache, startController, startExecutor }
    // The REST API forecasts in a thread, which gets a copy.
    const planned = await forecast(structuredClone(snapshot), { image: 'agent=registry.example/node-agent:v2' }, programs)
    expect(planned).toMatchObject({ outcome: 'Completes', nodesHit: 8 })
  },
)

/** What JavaScript writes for the greatest integer of 64 bits. */
const TOO_GREAT = '9223372036854776000'

/** An API server that rejects integers of more than 64 bits. */
function rejecting(exchange: Exchange): Exchange {
  return async (request, signal) => {
    if (request.body?.includes(`:${TOO_GREAT}`) !== true) return exchange(request, signal)
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Invalid', code: 422, message: 'must be of type int64' }
    async function* body(): AsyncGenerator<string> {
      yield JSON.stringify(status)
    }
    return { status: 422, headers: { 'content-type': 'application/json' }, body: body() }
  }
}

/** A client for which two integers are one number. */
function readingOther(exchange: Exchange, other = '5000000'): Exchange {
  return async (request, signal) => {
    const response = await exchange(request, signal)
    async function* body(): AsyncGenerator<string> {
      for await (const chunk of response.body) yield chunk.replaceAll(STAND_IN, other)
    }
    return { ...response, body: body() }
  }
}

async function ask(type: ActionOrder['type']): Promise<ActionAnswer | string> {
  const { clock, simulator } = stage
  const exchange = readingOther(simulator.exchangeFor('admin'))
  const client = createKubeClient({ exchange, clock, userAgent: 'tranche-api/1', log: silentLogger })
  const order = { on: 'Rollout', key: stageKey, body: {}, by: 'alice', via: 'rest', waitMs: 60_000, type } as const
  let settled = false
  const answer = carryOut({ client, clock, log: silentLogger, component: 'tranche-api' }, order)
    .catch((error: unknown) => String(error))
    .finally(() => (settled = true))
  await stage.until('it is answered', () => settled, 120_000)
  return answer
}
