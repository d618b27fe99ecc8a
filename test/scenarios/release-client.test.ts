import type { ActionAnswer } from '@tranche/api-schema'
import { isAppError } from '@tranche/errors'
import { createKubeClient } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { carryOut, createKubeReleaseClient, type ActionOrder } from '@tranche/release-client'
import { recordedActionsOf } from '@tranche/actions'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { events } from './hands.ts'
import { condition, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '20%', pause: {} }, { replicas: '50%', pause: {} }, { replicas: '100%' }]

type Asked = Partial<ActionOrder> & Pick<ActionOrder, 'type'>

/** Sends an action, and advances time until there is an answer. @returns code of the error if it is rejected */
async function ask(asked: Asked): Promise<ActionAnswer | string> {
  const [answer] = await askAtOnce(asked)
  return answer!
}

/** Sends several actions at the same moment, each through another API replica with its own client. */
async function askAtOnce(...all: readonly Asked[]): Promise<readonly (ActionAnswer | string)[]> {
  let settled = false
  const answers = Promise.all(all.map(send)).finally(() => (settled = true))
  await stage.until('all are answered', () => settled, 120_000)
  return answers
}

async function send(asked: Asked): Promise<ActionAnswer | string> {
  const { clock, simulator } = stage
  const client = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock, userAgent: 'tranche-api/1', log: silentLogger })
  const order = { on: 'Rollout', key: stageKey, body: {}, by: 'alice', via: 'rest', waitMs: 60_000, ...asked } as const
  try {
    return await carryOut({ client, clock, log: silentLogger, component: 'tranche-api' }, order)
  } catch (error) {
    if (isAppError(error)) return error.code
    throw error
  }
}

const acknowledged = { state: 'acknowledged', repeated: false }

describe('in mid-release', () => {
  beforeEach(async () => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
  })

  it('approves one step when two users approve at the same moment, and rejects the other (G10)', async () => {
    const both = await askAtOnce(
      { type: 'approve', body: { expectedStep: 1 }, by: 'alice' },
      { type: 'approve', body: { expectedStep: 1 }, by: 'bob' },
    )
    const [refused] = both.filter((answer) => typeof answer === 'string')
    expect(both.filter((answer) => typeof answer === 'object')).toMatchObject([{ type: 'approve', ...acknowledged }])
    expect(['MOVED_ON', 'ACTION_PENDING']).toContain(refused)
    await untilPausedAt(stage, 2)
    await stage.pass(120_000)
    expect((await stage.rollout()).status?.currentStepIndex).toBe(2)
    expect(recordedActionsOf(await stage.rollout())).toHaveLength(1)
    expectKept(stage)
  })

  it('carries an Idempotency-Key out once, also through another replica, and rejects it for any other request', async () => {
    const order: Asked = { type: 'approve', body: { expectedStep: 1, reason: 'looks good' }, idempotencyKey: 'k-1' }
    const first = await ask(order)
    expect(first).toMatchObject(acknowledged)
    await untilPausedAt(stage, 2)
    const { resourceVersion } = (await stage.rollout()).metadata
    expect(await ask(order)).toMatchObject({ ...(first as ActionAnswer), message: expect.any(String), repeated: true })
    expect((await stage.rollout()).metadata.resourceVersion).toBe(resourceVersion)
    expect(await ask({ ...order, type: 'promote', body: {} })).toBe('IDEMPOTENCY_KEY_REUSED')
    expect(await ask({ ...order, by: 'bob' })).toBe('MOVED_ON')
    expect((await stage.rollout()).status?.currentStepIndex).toBe(2)
  })

  it('acknowledges a pause when nothing more can be deleted, and a resume when the release continues (G9)', async () => {
    await stage.approve()
    expect(await ask({ type: 'pause', body: { reason: 'lunch' } })).toMatchObject(acknowledged)
    expect(await condition(stage, 'Progressing')).toMatchObject({ reason: 'Paused' })
    const before = stage.recording().filter(({ verb }) => verb === 'delete').length
    await stage.pass(300_000)
    expect(stage.recording().filter(({ verb }) => verb === 'delete')).toHaveLength(before)
    expect(await ask({ type: 'resume' })).toMatchObject(acknowledged)
    await untilPausedAt(stage, 2)
    expect(recordedActionsOf(await stage.rollout())).toMatchObject([
      { type: 'pause', by: 'alice', reason: 'lunch', via: 'rest' },
      { type: 'resume' },
    ])
    expectKept(stage)
  })

  it('jumps, promotes and aborts, each with its answer, its record and its event', async () => {
    expect(await ask({ type: 'jump', body: { expectedStep: 1, step: 2 } })).toMatchObject(acknowledged)
    await untilPausedAt(stage, 2)
    expect(await ask({ type: 'promote' })).toMatchObject(acknowledged)
    expect(await ask({ type: 'abort', body: { reason: 'wrong one' }, by: 'bob' })).toMatchObject(acknowledged)
    await untilReleased(stage, 'v1')
    expect(recordedActionsOf(await stage.rollout()).map(({ type, by }) => `${type} ${by}`)).toEqual([
      'jump alice',
      'promote alice',
      'abort bob',
    ])
    const reported = (await events(stage)).filter(({ reason }) => reason === 'ActionRequested').map(({ message }) => message)
    expect(reported.toSorted()).toEqual([
      expect.stringMatching(/^abort \(id rest-[0-9a-f]{16}\) by bob via rest: wrong one$/),
      expect.stringMatching(/^jump .* by alice via rest$/),
      expect.stringMatching(/^promote .* by alice via rest$/),
    ])
    expectKept(stage)
  })

  it('undoes the template, which is a rollback here, and acknowledges it when the Rollout has observed it (G11)', async () => {
    expect(await ask({ type: 'undo', body: { reason: 'no good' } })).toMatchObject(acknowledged)
    await untilReleased(stage, 'v1')
    expect(recordedActionsOf(await stage.daemonSet())).toMatchObject([{ type: 'undo', reason: 'no good' }])
    expect(recordedActionsOf(await stage.rollout())).toEqual([])
    expectKept(stage)
  })

  it('undoes once when two users undo at the same moment, and never returns to the undone version (G10)', async () => {
    const both = await askAtOnce({ type: 'undo', by: 'alice' }, { type: 'undo', by: 'bob' })
    expect(both).toContain('MOVED_ON')
    expect(both).toContainEqual(expect.objectContaining(acknowledged))
    await untilReleased(stage, 'v1')
    expect(recordedActionsOf(await stage.daemonSet())).toHaveLength(1)
    expectKept(stage)
  })

  it('lists the recorded actions with the user whom the API server authenticated', async () => {
    const { clock, client } = stage
    const releaseClient = createKubeReleaseClient({ client, clock, log: silentLogger, component: 'tranche-cli', via: 'cli' })
    await releaseClient.act(stageKey, { type: 'pause', body: { reason: 'look' }, waitMs: 0 })
    expect((await releaseClient.history(stageKey)).actions).toMatchObject([{ type: 'pause', by: 'admin', via: 'cli', reason: 'look' }])
    expect(await releaseClient.events(stageKey)).toContainEqual(
      expect.objectContaining({ reason: 'ActionRequested', object: 'Rollout/node-agent' }),
    )
    const { template, number } = await releaseClient.template(stageKey, '1')
    expect([number, JSON.stringify(template)]).toEqual([1, expect.stringContaining('node-agent:v1')])
    await expect(releaseClient.template(stageKey, '9')).rejects.toMatchObject({ code: 'REVISION_NOT_FOUND' })
    await expect(releaseClient.explain(stageKey, 'no-such')).rejects.toMatchObject({ code: 'NODE_NOT_FOUND' })
    const { report, nodes, batches, revisions } = await releaseClient.picture(stageKey)
    expect([report.step?.index, nodes.length, batches.length, revisions.length]).toEqual([1, 10, 3, 2])
  })

  it('reports on a dry run what it would write, and writes nothing', async () => {
    const { resourceVersion } = (await stage.daemonSet()).metadata
    const answer = await ask({ on: 'DaemonSet', type: 'undo', dryRun: true })
    expect(answer).toMatchObject({ state: 'accepted', message: expect.stringMatching(/dryRun.*the template of revision 1 /) })
    expect((await stage.daemonSet()).metadata.resourceVersion).toBe(resourceVersion)
  })

  it('answers accepted while no controller runs, and rejects the next approval because an action is pending', async () => {
    await stage.program('controller-1').stop()
    expect(await ask({ type: 'approve', body: { expectedStep: 1 }, waitMs: 5_000 })).toMatchObject({ state: 'accepted' })
    expect(await ask({ type: 'promote', by: 'bob' })).toBe('ACTION_PENDING')
    expect(await ask({ type: 'abort', by: 'bob', waitMs: 0 })).toMatchObject({ state: 'accepted' })
    await stage.startController('controller-2')
    await untilReleased(stage, 'v1')
  })
})

it('restart changes the template of a DaemonSet, which is released through the steps', async () => {
  stage = await setStage({ nodes: 5, maxUnavailable: 5, steps: [{ replicas: '100%' }] })
  expect(await ask({ on: 'DaemonSet', type: 'restart' })).toMatchObject(acknowledged)
  await stage.until('every pod is new', async () => (await stage.rollout()).status?.phase === 'Progressing')
  await untilReleased(stage, 'v1')
  const { template } = (await stage.daemonSet()).spec
  expect(template.metadata?.annotations?.['kubectl.kubernetes.io/restartedAt']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  expect(await ask({ type: 'approve', body: { expectedStep: 1 } })).toBe('MOVED_ON')
  expect(await ask({ type: 'abort' })).toBe('ACTION_REJECTED')
  expect(await ask({ type: 'pause', key: { ...stageKey, name: 'no-such' } })).toBe('ROLLOUT_NOT_FOUND')
  expectKept(stage)
})
