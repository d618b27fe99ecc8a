import { afterEach, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { type Manifest, replaceWhole } from './appliers.ts'
import { deletions, expectKept } from './expect-kept.ts'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage, type StageOptions } from './stage.ts'
import { daemonSetManifest, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const failure = async () => (await stage.release())?.status?.failure
const isFailed = async (): Promise<boolean> => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed'

it('a failing version is stopped by the executor alone while no controller runs (G7)', async () => {
  stage = await setStage({
    nodes: 30,
    maxUnavailable: 1,
    steps: [{ replicas: '100%' }],
    annotations: { 'sim.tranche.dev/late-ms': '5000' },
  })
  await stage.setImage('v2-bad-restart')
  await untilNodesOn(stage, 'v2-bad-restart', 2)
  stage.program('controller-1').kill()
  await stage.pass(120_000)
  const hit = await nodesOn(stage, 'v2-bad-restart')
  await stage.pass(600_000)
  expect(await nodesOn(stage, 'v2-bad-restart')).toEqual(hit)
  expect(hit.length).toBeLessThan(15)
  expect(await failure()).toBeUndefined()

  await stage.startController('controller-2')
  await stage.until('the failure is reported', isFailed)
  expect((await failure())?.failedNodes?.[0]).toMatchObject({ reason: 'TooManyRestarts', container: 'agent' })
  expectKept(stage)
})

it('the time in a pause does not count towards the deadline', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
  await stage.setImage('v2-bad-ready')
  await untilNodesOn(stage, 'v2-bad-ready', 2)
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  await stage.pass(3_600_000)
  expect(await failure()).toBeUndefined()
  await stage.patchRollout({ spec: { strategy: { paused: false } } })
  await stage.pass(570_000)
  expect(await failure()).toBeUndefined()
  await stage.until('the failure is reported', isFailed, 60_000)
  expect((await failure())?.failedNodes?.[0]).toMatchObject({ reason: 'ProgressDeadlineExceeded' })
  expectKept(stage)
})

it.each([
  ['disabled and enabled', disableAndEnable],
  ['deleted and created', deleteAndCreate],
])('a version is still judged by its earlier pods after its Rollout was %s in a pause (G9)', async (_how, comeBack) => {
  stage = await setStage({
    nodes: 6,
    maxUnavailable: 1,
    steps: [{ replicas: '50%', pause: {} }, { replicas: '100%' }],
    annotations: { 'sim.tranche.dev/late-ms': '90000' },
  })
  await stage.setImage('v2-bad-late')
  await untilPausedAt(stage, 1)
  await stage.pass(61_000)
  await comeBack()
  await stage.pass(61_000)
  await stage.approve()
  await stage.until('the failure is reported', isFailed)
  const deleted = deletions(stage)
  await stage.pass(300_000)
  expect(deletions(stage)).toBe(deleted)
  expect(await nodesOn(stage, 'v2-bad-late')).toHaveLength(3)
  expectKept(stage)
})

async function disableAndEnable(): Promise<void> {
  await stage.patchRollout({ spec: { disabled: true } })
  await stage.until('it is disabled', async () => (await stage.rollout()).status?.phase === 'Disabled', 60_000)
  await stage.patchRollout({ spec: { disabled: false } })
}

async function deleteAndCreate(): Promise<void> {
  const { spec } = await stage.rollout()
  await stage.client.delete(resourcePaths.rollouts, stageKey)
  await stage.until('it is gone', async () => (await stage.client.list(resourcePaths.rollouts, stageKey)).items.length === 0, 60_000)
  await stage.client.create(resourcePaths.rollouts, {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'Rollout',
    metadata: stageKey,
    spec,
  } as never)
}

it('a version that fails everywhere waits for a person once the nodes of a retry have had their time to recover', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
  await stage.setImage('v2-bad-crash')
  await stage.until('the failure is reported', isFailed)
  await retry()
  await stage.until('the next failure is reported', async () => {
    const seen = await failure()
    return seen?.stops === true && seen.accepted?.length === 1
  })
  await retry('r2')
  await stage.until('it waits', async () => (await stage.rollout()).status?.waitingFor?.reason === 'NotAvailable')
  await stage.pass(9 * 60_000)
  expect((await stage.rollout()).status?.waitingFor?.reason).toBe('NotAvailable')
  await stage.pass(2 * 60_000)
  expect((await stage.rollout()).status?.waitingFor).toMatchObject({
    reason: 'AcceptedFailed',
    message: expect.stringContaining('raise it to at least 3, fix the nodes, abort, or apply another template'),
  })
  expectKept(stage)
})

const pausedStep = { replicas: '25%', pause: { duration: 30 } }

it.each<[string, Pick<StageOptions, 'steps' | 'annotations'>]>([
  ['during its steps', { steps: [pausedStep, { replicas: '100%' }] }],
  // The nodes of the only step are well.
  ['after its last step', { steps: [pausedStep], annotations: { 'sim.tranche.dev/bad-nodes': 'node-00[367]' } }],
])(
  'a version whose pods failed and then became Ready stays stopped if its manifest replaces the DaemonSet %s, until a retry (G12)',
  async (_when, release) => {
    const options = { nodes: 8, maxUnavailable: 2, strategyType: 'OnDelete' as const, ...release }
    stage = await setStage(options)
    await stage.setImage('v2-bad-heals')
    await stage.until('the failure is reported', isFailed, 3_600_000)
    await stage.pass(1_800_000)
    const hit = await nodesOn(stage, 'v2-bad-heals')
    expect((await replaceWhole(stage, daemonSetManifest(options, 'v2-bad-heals') as Manifest)).status).toBe(200)
    await stage.pass(1_800_000)
    expect(await nodesOn(stage, 'v2-bad-heals')).toEqual(hit)
    expect(await isFailed()).toBe(true)
    await retry()
    await stage.until('the release continues', async () => (await nodesOn(stage, 'v2-bad-heals')).length > hit.length, 600_000)
    expectKept(stage)
  },
)

it('a failed version stays blocked if its DaemonSet is deleted and created with the fix, like by kubectl replace --force (G12)', async () => {
  const options = { nodes: 8, maxUnavailable: 2, steps: [{ replicas: '25%', pause: { duration: 30 } }, { replicas: '100%' }] }
  stage = await setStage(options)
  await stage.setImage('v2-bad-crash')
  await stage.until('the failure is reported', isFailed)
  await stage.client.delete(resourcePaths.daemonSets, stageKey)
  await stage.until('the pods are gone', async () => (await stage.pods()).length === 0)
  await stage.client.create(resourcePaths.daemonSets, daemonSetManifest(options, 'v3') as never)
  await untilReleased(stage, 'v3')
  await stage.setImage('v2-bad-crash')
  await stage.until('it is blocked', async () => (await condition(stage, 'Stalled'))?.reason === 'RevisionHeld')
  await stage.pass(120_000)
  expect(await nodesOn(stage, 'v3')).toHaveLength(8)
})

it.each([
  ['by a retry', () => retry()],
  ['by lifting a pause', pauseAndResume],
])('a release continues on other nodes after the failure of one was accepted %s', async (_how, accept) => {
  const annotations = { 'sim.tranche.dev/bad-nodes': '^node-003$' }
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [{ replicas: '50%', pause: {} }, { replicas: '100%' }], annotations })
  await stage.setImage('v2-bad-crash')
  await stage.until(
    'the failure is reported',
    async () => (await isFailed()) || (await condition(stage, 'Progressing'))?.reason === 'Paused',
  )
  if (!(await isFailed())) await stage.approve()
  await stage.until('the failure is reported', isFailed)
  expect((await failure())?.nodes).toEqual(['node-003'])
  await accept()
  await stage.until('every other node is updated', async () => {
    if ((await stage.rollout()).status?.canaryStatus?.currentStepState === 'StepPaused') await stage.approve()
    return (await nodesOn(stage, 'v2-bad-crash')).length === 10
  })
  expect(await failure()).toMatchObject({ stops: false, accepted: ['node-003'] })
  await stage.until('the release is over', async () => (await stage.rollout()).status?.phase === 'Healthy')
  await stage.pass(10_000)
  const left = (await stage.rollout()).status?.conditions?.find(({ type }) => type === 'StrategyRestored')
  expect(left).toMatchObject({ reason: 'NodesLeft', message: expect.stringContaining('1 failed, which a retry accepted (node-003') })
  expectKept(stage)
})

async function retry(id = 'r1'): Promise<void> {
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id, type: 'retry' }) } } })
}

async function pauseAndResume(): Promise<void> {
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  const isPaused = async (): Promise<boolean> => (await condition(stage, 'Progressing'))?.reason === 'Paused'
  await stage.until('it is paused', isPaused, 60_000)
  await stage.pass(30_000)
  expect(await failure()).toMatchObject({ stops: true })
  await stage.patchRollout({ spec: { strategy: { paused: false } } })
}
