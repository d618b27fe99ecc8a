import { afterEach, describe, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import type { WireRequest } from '@tranche/wire'
import { deletions, expectKept } from './expect-kept.ts'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const executors = ['executor-1', 'executor-2']
const steps = [{ replicas: '30%', pause: {} }, { replicas: '100%' }]
const isDelete = ({ method, path }: WireRequest): boolean => method === 'DELETE' && path.includes('/pods/')
const isRecordWrite = ({ method, path }: WireRequest): boolean => method === 'PATCH' && path.includes('/batchreleases/')
const isPaused = async (): Promise<boolean> => (await condition(stage, 'Progressing'))?.reason === 'Paused'
const HOUR = 3_600_000

it.each([1, 2, 3, 4, 5])('two executors at the same time keep the budget and the batch, seed %i (G8)', async (seed) => {
  stage = await setStage({ nodes: 20, maxUnavailable: 3, steps, executors, seed, watchDelayMs: 200 })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  expect(await nodesOn(stage, 'v2')).toHaveLength(6)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('an executor does not repeat a rejected delete until it has seen the pod change (F5, G4)', async () => {
  stage = await setStage({ nodes: 5, maxUnavailable: 1, steps: [{ replicas: '100%' }] })
  const refused: string[] = []
  const heal = stage.disturb({
    onRequest({ actor, verb, resource, name }) {
      if (actor !== 'executor-1' || verb !== 'delete' || resource.resource !== 'pods') return undefined
      refused.push(name ?? '')
      return { kind: 'conflict' }
    },
  })
  await stage.setImage('v2')
  await stage.until('a delete is rejected', () => refused.length > 0)
  await stage.pass(20_000)
  expect(refused).toHaveLength(1)
  heal()
  const key = { namespace: stageKey.namespace, name: refused[0]! }
  await stage.client.patch(resourcePaths.pods, key, { type: 'merge', body: { metadata: { labels: { changed: 'true' } } } })
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

describe('an executor that was frozen between its decision and its DELETE for an hour', () => {
  it('deletes nothing when it resumes in a pause (F4, F8, G9)', async () => {
    await freezeOne(isDelete)
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    await stage.until('the pause is acknowledged', isPaused)
    await stage.pass(HOUR)
    const deleted = deletions(stage)
    stage.program('executor-1').process.thaw()
    await stage.pass(60_000)
    expect(stage.program('executor-1').process.held()).toBeGreaterThan(0)
    expect(deletions(stage)).toBe(deleted)
    await goOnToTheEnd()
  })

  it('deletes nothing beyond the batch when the release has moved on (F5, G3, G7)', async () => {
    await freezeOne(isDelete)
    await untilPausedAt(stage, 1)
    await stage.pass(HOUR)
    const deleted = deletions(stage)
    stage.program('executor-1').process.thaw()
    await stage.pass(60_000)
    expect(deletions(stage)).toBe(deleted)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('deletes no pod for the newer revision when the template has changed meanwhile (F8, G4)', async () => {
    await freezeOne(isDelete)
    await stage.setImage('v3')
    await untilPausedAt(stage, 1)
    await stage.pass(HOUR)
    stage.program('executor-1').process.thaw()
    await stage.pass(60_000)
    expect(await nodesOn(stage, 'v3')).toHaveLength(6)
    await stage.approve()
    await untilReleased(stage, 'v3')
    expectKept(stage)
  })

  it('changes nothing when the release is over (F5)', async () => {
    await freezeOne(isDelete)
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilReleased(stage, 'v2')
    await stage.pass(HOUR)
    const deleted = deletions(stage)
    stage.program('executor-1').process.thaw()
    await stage.pass(60_000)
    expect(deletions(stage)).toBe(deleted)
    expectKept(stage)
  })
})

it('an executor appends no permit by an hour-old decision, because the record has moved on (F3, F8)', async () => {
  await freezeOne(isRecordWrite)
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  await stage.until('the pause is acknowledged', isPaused)
  await stage.pass(HOUR)
  const record = (await stage.release())?.status?.flight
  stage.program('executor-1').process.thaw()
  await stage.pass(60_000)
  expect((await stage.release())?.status?.flight).toEqual(record)
  await goOnToTheEnd()
})

it('another executor continues from the record of a killed one (G7)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 3, steps, executors: ['executor-1'] })
  await stage.setImage('v2')
  stage.program('executor-1').process.freezeBefore(isDelete)
  await stage.until('the executor has decided', () => stage.program('executor-1').process.isFrozen())
  stage.program('executor-1').kill()
  await stage.pass(60_000)
  expect(deletions(stage)).toBeLessThan(6)
  await stage.startExecutor('executor-2')
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilNodesOn(stage, 'v2', 10)
  stage.program('executor-2').process.cutOff()
  stage.program('executor-2').kill()
  await stage.startExecutor('executor-3')
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('every guarantee holds while the watches of one executor are minutes behind (F2)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 3, steps, executors })
  stage.disturb({ onEvent: ({ actor }) => (actor === 'executor-2' ? { kind: 'delay', ms: 180_000 } : undefined) })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilReleased(stage, 'v2')
  await stage.pass(600_000)
  expectKept(stage)
})

it.each([1, 2, 3, 4])(
  'the batch is never exceeded while one executor sees the record at once and pods minutes late, seed %i (F2, G3)',
  async (seed) => {
    stage = await setStage({ nodes: 20, maxUnavailable: 3, steps, executors, seed })
    stage.disturb({
      onEvent: ({ actor, resource }) =>
        actor === 'executor-2' && resource.resource === 'pods' ? { kind: 'delay', ms: 180_000 } : undefined,
    })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.pass(600_000)
    expect(await nodesOn(stage, 'v2')).toHaveLength(6)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  },
)

it('a release ends although the watches of its only executor are minutes behind (F2, G6)', async () => {
  stage = await setStage({ nodes: 6, maxUnavailable: 2, steps: [{ replicas: '100%' }], executors: ['executor-1'] })
  stage.disturb({ onEvent: ({ actor }) => (actor === 'executor-1' ? { kind: 'delay', ms: 120_000 } : undefined) })
  await stage.setImage('v2')
  await untilReleased(stage, 'v2', HOUR * 3)
  expectKept(stage)
})

/** Starts two executors. The first freezes at its first request that matches, with a batch in flight. */
async function freezeOne(matches: (request: WireRequest) => boolean): Promise<void> {
  stage = await setStage({ nodes: 20, maxUnavailable: 3, steps, executors })
  const { process } = stage.program('executor-1')
  process.freezeBefore(matches)
  await stage.setImage('v2')
  await stage.until('the first executor is frozen', () => process.isFrozen())
}

async function goOnToTheEnd(): Promise<void> {
  await stage.patchRollout({ spec: { strategy: { paused: false } } })
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
}
