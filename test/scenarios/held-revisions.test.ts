import { afterEach, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { deletions, expectKept } from './expect-kept.ts'
import { condition, nodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]
const act = (action: object): Promise<void> =>
  stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify(action) } } })
const isHeld = async (): Promise<boolean> => (await condition(stage, 'Stalled'))?.reason === 'RevisionHeld'
const untilHeld = (): Promise<void> => stage.until('it is held', isHeld)

it('an aborted version causes no deletion although it is applied repeatedly and leaders die, until a retry (G12, G7)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await act({ id: 'stop', type: 'abort', expectedStep: 1 })
  await untilReleased(stage, 'v1')

  for (const leader of ['controller-1', 'controller-2']) {
    await stage.setImage('v2')
    await untilHeld()
    const deleted = deletions(stage)
    stage.program(leader).kill()
    await stage.startController(`controller-${Number(leader.at(-1)) + 1}`)
    await stage.pass(60_000)
    expect(deletions(stage)).toBe(deleted)
    expect([await nodesOn(stage, 'v2'), await isHeld()]).toEqual([[], true])
    await stage.setImage('v1')
    await untilReleased(stage, 'v1')
  }

  await stage.setImage('v2')
  await untilHeld()
  await act({ id: 'again', type: 'retry' })
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('an abort is accepted only when no more nodes can be updated, even if an old leader wakes that was about to open (F9, G9, G12)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const { process } = stage.program('controller-1')
  process.freezeBefore(({ method, path }) => method === 'GET' && path.includes('/rollouts/'))
  await stage.approve()
  await stage.until('the leader is about to open batch 2', () => process.isFrozen())

  const heal = stage.disturb({
    onRequest: ({ actor, verb, resource }) =>
      actor === 'controller-2' && verb === 'patch' && resource.resource === 'batchreleases' ? { kind: 'cut', when: 'before' } : undefined,
  })
  await act({ id: 'stop', type: 'abort', expectedStep: 2 })
  // A single controller runs without leader election, so both controllers act at all times.
  await stage.startController('controller-2')
  await stage.pass(30_000)
  expect((await stage.rollout()).status).not.toHaveProperty('lastAction')
  const deleted = deletions(stage)
  heal()
  await stage.until('the abort is accepted', async () => (await stage.rollout()).status?.heldRevisions?.length === 1)
  process.thaw()
  await untilReleased(stage, 'v1')
  // Only the five updated nodes are rolled back.
  expect(deletions(stage) - deleted).toBe(5)
  expectKept(stage)
})

it.each(['inProcess', 'none'] as const)(
  'a template that was rolled back is held although its revision was pruned (admission %s, G12)',
  async (admission) => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, admission })
    await stage.patchDaemonSet({ spec: { revisionHistoryLimit: 0 } })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await act({ id: 'stop', type: 'abort' })
    await untilReleased(stage, 'v1')
    const isPruned = async (): Promise<boolean> =>
      (await stage.client.list(resourcePaths.controllerRevisions, { namespace: stageKey.namespace })).items.length === 1
    await stage.until('its revision is pruned', isPruned)
    const before = deletions(stage)
    await stage.setImage('v2')
    await untilHeld()
    await stage.pass(120_000)
    expect([deletions(stage), await nodesOn(stage, 'v1')]).toEqual([before, expect.objectContaining({ length: 10 })])
    expectKept(stage)
  },
)

it('nodes that leak while a revision is held are counted, and rolled back with the stable template (G12)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, admission: 'inProcess' })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await act({ id: 'stop', type: 'abort' })
  await untilReleased(stage, 'v1')
  await stage.setImage('v2')
  await untilHeld()
  const [pod] = await stage.pods()
  const before = deletions(stage)
  await stage.client.delete(resourcePaths.pods, { namespace: stageKey.namespace, name: pod?.metadata.name ?? '' })
  await stage.until('it is counted', async () => (await stage.rollout()).status?.message?.includes('1 of 10 nodes run it') === true)
  expect(deletions(stage)).toBe(before)
  await stage.setImage('v1')
  await untilReleased(stage, 'v1')
  expect(deletions(stage) - before).toBe(1)
  expectKept(stage)
})

it('the stable template is put back once, although a Git tool keeps applying the blocked one and leaders die (G7, G12)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, controllers: ['controller-1', 'controller-2'], admission: 'inProcess' })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await act({ id: 'stop', type: 'abort' })
  await stage.until('the template is back', async () => imageOf(await stage.daemonSet()).endsWith(':v1'))
  stage.program('controller-1').kill()
  await stage.setImage('v2')
  await untilHeld()
  await stage.pass(120_000)
  expect(imageOf(await stage.daemonSet())).toMatch(/:v2$/)
  const ours = stage.recording().filter(({ kind, actor }) => kind === 'DaemonSet' && actor?.startsWith('controller') === true)
  const templates = ours.map(({ o }) => (o as { readonly template?: string }).template)
  expect(templates.filter((template, at) => at > 0 && template === templates[0] && template !== templates[at - 1])).toHaveLength(1)
  expectKept(stage)
})

function imageOf(daemonSet: unknown): string {
  const { spec } = daemonSet as {
    readonly spec?: { readonly template: { readonly spec?: { readonly containers?: readonly { readonly image?: string }[] } } }
  }
  return spec?.template.spec?.containers?.[0]?.image ?? ''
}

it('a failed version that was superseded is held: its old manifest releases nothing until a retry (G12)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, policy: { failure: { action: 'Pause' } } })
  await stage.setImage('v2-bad-crash')
  await stage.until('it is stopped', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed')
  await stage.setImage('v1')
  await untilReleased(stage, 'v1')
  expect((await stage.rollout()).status?.heldRevisions).toMatchObject([{ reason: 'Failed', reverted: true }])
  const before = deletions(stage)
  await stage.setImage('v2-bad-crash')
  await stage.until('it is held', isHeld)
  expect(deletions(stage)).toBe(before)
  await act({ id: 'again', type: 'retry' })
  await stage.until('it is released nevertheless', async () => deletions(stage) > before)
  expectKept(stage)
})

it('a version that failed at a removed step is held, and the next template is released (G12, G6)', async () => {
  const many = [{ replicas: '10%', pause: { duration: 1 } }, { replicas: '20%', pause: {} }, { replicas: '100%' }]
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: many, policy: { failure: { action: 'Pause' } } })
  await stage.setImage('v2-bad-late')
  await stage.until('it is stopped past the first step', async () => {
    return (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed' && (await stage.rollout()).status?.currentStepIndex !== 1
  })
  await stage.patchRollout({ spec: { strategy: { canary: { steps: [{ replicas: '100%' }] } } } })
  await stage.until('the new steps are observed, and it is still stopped', async () => {
    const { metadata, status } = await stage.rollout()
    return (
      status?.observedGeneration === metadata.generation && status?.conditions?.some(({ reason }) => reason === 'ReleaseFailed') === true
    )
  })
  await stage.setImage('v3')
  await untilReleased(stage, 'v3')
  expect((await stage.rollout()).status?.heldRevisions).toMatchObject([{ reason: 'Failed' }])
  expectKept(stage)
})

it.each([
  { replacedMs: 0, enabledMs: 500 },
  { replacedMs: 1_000, enabledMs: 20_000 },
  { replacedMs: 8_000, enabledMs: 120_000 },
])(
  'a failed version is blocked that another template replaces $replacedMs ms after the Rollout was disabled, enabled $enabledMs ms later (G12)',
  async ({ replacedMs, enabledMs }) => {
    stage = await setStage({ nodes: 8, maxUnavailable: 2, steps: [{ replicas: '50%', pause: {} }, { replicas: '100%' }] })
    await stage.setImage('v2-bad-crash')
    await stage.until('it fails', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed')
    await stage.patchRollout({ spec: { disabled: true } })
    await stage.pass(replacedMs)
    await stage.setImage('v1')
    await stage.pass(enabledMs)
    await stage.patchRollout({ spec: { disabled: false } })
    await stage.pass(60_000)
    await stage.setImage('v2-bad-crash')
    await stage.pass(60_000)
    expect(await nodesOn(stage, 'v2-bad-crash')).toEqual([])
    expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'True', reason: 'RevisionHeld' })
  },
)
