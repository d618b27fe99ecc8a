import { afterEach, describe, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { daemonSetAnnotations as keys } from '@tranche/kube-types'
import { deletions, expectKept } from './expect-kept.ts'
import { deletePod } from './hands.ts'
import { nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { daemonSetManifest, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]

it('the release starts again at step 1 each time the template changes, superseded revisions first (F8, F11, G5)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 2, steps })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 3)
  await stage.setImage('v3')
  await untilNodesOn(stage, 'v3', 2)
  await stage.setImage('v4')
  await untilPausedAt(stage, 1)
  expect(await nodesOn(stage, 'v4')).toHaveLength(10)
  expect(await nodesOn(stage, 'v2')).toEqual([])
  expect(await nodesOn(stage, 'v3')).toEqual([])
  await stage.approve()
  await untilReleased(stage, 'v4')
  expectKept(stage)
})

it('a new template in a paused step starts the release again', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.setImage('v3')
  await stage.until('the new release runs', async () => (await nodesOn(stage, 'v3')).length > 0)
  await untilPausedAt(stage, 1)
  expect(await nodesOn(stage, 'v3')).toHaveLength(5)
  expect(await nodesOn(stage, 'v2')).toEqual([])
  await stage.approve()
  await untilReleased(stage, 'v3')
  expectKept(stage)
})

it('the return of the old template starts a rollback without pauses, which replaces only pods of the new version (F8)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 2, steps })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 6)
  const before = deletions(stage)
  await stage.setImage('v1')
  await untilReleased(stage, 'v1')
  expect(deletions(stage) - before).toBeLessThanOrEqual(9)
  expectKept(stage)
})

it('the release follows a raised and a lowered maxUnavailable in mid-batch (F10)', async () => {
  stage = await setStage({ nodes: 30, maxUnavailable: 1, steps: [{ replicas: '100%' }] })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 2)
  await setMaxUnavailable(6)
  await untilNodesOn(stage, 'v2', 12)
  await setMaxUnavailable(2)
  await untilNodesOn(stage, 'v2', 18)
  await setMaxUnavailable('10%')
  await untilReleased(stage, 'v2')
  const limits = stage
    .recording()
    .filter(({ kind }) => kind === 'BatchRelease')
    .map(({ o }) => (o as { readonly status?: { readonly flight?: { readonly limit: number } } }).status?.flight?.limit)
  expect(limits.filter((limit, at) => limit !== undefined && limit !== limits[at - 1])).toEqual([1, 6, 2, 3])
  expectKept(stage)
})

it('the release follows a new generation that keeps the revision (F10)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 2, steps })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 3)
  await stage.patchDaemonSet({ spec: { minReadySeconds: 3 } })
  await untilNodesOn(stage, 'v2', 6)
  await stage.patchDaemonSet({ spec: { revisionHistoryLimit: 5 } })
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('the release follows a raised and a lowered minReadySeconds in mid-batch, although one of two executors sees it late (F10, F1, G1)', async () => {
  const executors = ['executor-1', 'executor-2']
  stage = await setStage({ nodes: 12, maxUnavailable: 2, minReadySeconds: 5, steps: [{ replicas: '100%' }], executors })
  const heal = stage.disturb({
    onEvent: ({ actor, resource }) =>
      actor === 'executor-2' && resource.resource === 'daemonsets' ? { kind: 'delay', ms: 20_000 } : undefined,
  })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 3)
  await stage.patchDaemonSet({ spec: { minReadySeconds: 60 } })
  const raisedMs = stage.clock.monotonicMs()
  const taken = deletions(stage)
  await stage.pass(50_000)
  // Nodes that are in flight or no longer available use up the budget.
  expect(deletions(stage) - taken).toBeLessThanOrEqual(1)
  await untilNodesOn(stage, 'v2', 7)
  expect(stage.clock.monotonicMs() - raisedMs).toBeGreaterThan(100_000)
  await stage.patchDaemonSet({ spec: { minReadySeconds: 0 } })
  const loweredMs = stage.clock.monotonicMs()
  await untilNodesOn(stage, 'v2', 12)
  expect(stage.clock.monotonicMs() - loweredMs).toBeLessThan(60_000)
  heal()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('the release waits for minReadySeconds before it continues and before it reports a step ready (F6)', async () => {
  stage = await setStage({ nodes: 6, maxUnavailable: 1, minReadySeconds: 20, steps })
  const sinceMs = stage.clock.monotonicMs()
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  expect(stage.clock.monotonicMs() - sinceMs).toBeGreaterThan(3 * 20_000)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('the release stops when a step is made smaller in mid-batch, and continues after an approval (F8, F9)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 2, steps })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 4)
  await setSteps('10%')
  await untilPausedAt(stage, 1)
  expect((await stage.daemonSet()).metadata.annotations?.[keys.partition]).toBe('18')
  const deleted = deletions(stage)
  await stage.pass(120_000)
  expect(deletions(stage)).toBe(deleted)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

describe('a DaemonSet that is deleted in mid-release', () => {
  it('ends the release, and a new DaemonSet of the same name is released from its own start (F11)', async () => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 2)
    await stage.client.delete(resourcePaths.daemonSets, stageKey)
    await stage.until('no pod is left', async () => (await stage.pods()).length === 0)
    await stage.until(
      'the Rollout says so',
      async () => (await stage.rollout()).status?.message?.includes('there is no such DaemonSet') === true,
    )
    await stage.pass(60_000)

    await stage.client.create(resourcePaths.daemonSets, daemonSetManifest({ maxUnavailable: 2 }) as never)
    await stage.until('it is Healthy', async () => (await stage.rollout()).status?.phase === 'Healthy')
    expect(await nodesOn(stage, 'v1')).toHaveLength(10)
    await stage.setImage('v3')
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilReleased(stage, 'v3')
    expectKept(stage)
  })

  it('lets the Rollout be deleted', async () => {
    stage = await setStage({ nodes: 10, steps })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 2)
    await stage.client.delete(resourcePaths.daemonSets, stageKey)
    await stage.client.delete(resourcePaths.rollouts, stageKey)
    await stage.until('all is gone', async () => (await rolloutGone()) && (await stage.release()) === undefined)
    expectKept(stage)
  })
})

describe('a Rollout that ends or changes in mid-release', () => {
  it.each([
    ['is deleted', () => stage.client.delete(resourcePaths.rollouts, stageKey), rolloutGone],
    ['is disabled', () => stage.patchRollout({ spec: { disabled: true } }), isDisabled],
  ] as const)('%s: stops, freezes the DaemonSet as it is, and deletes nothing more (F8, F11, G9)', async (_how, act, isOver) => {
    stage = await setStage({ nodes: 20, maxUnavailable: 2, steps, admission: 'inProcess' })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 4)
    await act()
    await stage.until('it is over', isOver)
    const deleted = deletions(stage)
    await stage.pass(300_000)
    expect(deletions(stage)).toBe(deleted)
    const { metadata, spec } = await stage.daemonSet()
    expect(spec.updateStrategy?.type).toBe('OnDelete')
    expect(
      Object.keys(metadata.annotations ?? {})
        .filter((key) => key.includes('rollouts.kruise') || key.includes('tranche'))
        .toSorted(),
    ).toEqual([keys.originalUpdateStrategy, keys.frozen].toSorted())
    expect(await stage.release()).toBeUndefined()
    expect(await frozenEvents()).toEqual(['DaemonSet', 'Rollout'])
    expectKept(stage)
  })

  it.each([
    ['Deployment', { kind: 'Deployment' }],
    ['other DaemonSet', { name: 'other' }],
  ] as const)('names a %s: detaches from the DaemonSet, and can be deleted', async (_what, workloadRef) => {
    stage = await setStage({ nodes: 20, maxUnavailable: 2, steps })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 4)
    await stage.patchRollout({ spec: { workloadRef } })
    await stage.until('it is unbound', async () => (await stage.daemonSet()).metadata.annotations?.[keys.rollout] === undefined)
    expect((await stage.daemonSet()).metadata.annotations).toHaveProperty([keys.frozen])
    expect(await stage.release()).toBeUndefined()
    const deleted = deletions(stage)
    await stage.pass(60_000)
    expect(deletions(stage)).toBe(deleted)
    await stage.client.delete(resourcePaths.rollouts, stageKey)
    await stage.until('it is gone', rolloutGone)
    expectKept(stage)
  })

  it('may not name another workload if admission is installed', async () => {
    stage = await setStage({ nodes: 20, maxUnavailable: 2, steps, admission: 'inProcess' })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 4)
    const changed = stage.patchRollout({ spec: { workloadRef: { kind: 'Deployment' } } })
    await expect(changed).rejects.toMatchObject({ status: 422, causes: [{ field: 'spec.workloadRef' }] })
    await untilPausedAt(stage, 1)
    expectKept(stage)
  })

  it('is enabled again and finishes the release', async () => {
    stage = await setStage({ nodes: 20, maxUnavailable: 2, steps, admission: 'inProcess' })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 4)
    await stage.patchRollout({ spec: { disabled: true } })
    await stage.until('it is disabled', isDisabled)
    await stage.patchRollout({ spec: { disabled: false } })
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilReleased(stage, 'v2')
    await stage.until('the strategy is restored', async () => (await stage.daemonSet()).spec.updateStrategy?.type === 'RollingUpdate')
    expectKept(stage)
  })
})

it('a version on most nodes skips no step when its Rollout is enabled again, even if no node runs the stable one (G3)', async () => {
  stage = await setStage({ nodes: 5, maxUnavailable: 2, steps: [{ replicas: 4, pause: {} }, { replicas: '100%' }] })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.patchRollout({ spec: { strategy: { canary: { steps: [{ replicas: 2, pause: {} }, { replicas: '100%' }] } } } })
  await stage.setImage('v3')
  await untilNodesOn(stage, 'v3', 2)
  await untilPausedAt(stage, 1)
  await stage.simulator.nodes.removeNode((await nodesOn(stage, 'v1'))[0]!)
  await stage.simulator.nodes.removeNode((await nodesOn(stage, 'v2'))[0]!)
  await stage.until('two nodes run v3, and one v2', async () => (await stage.pods()).length === 3)
  await stage.patchRollout({ spec: { disabled: true } })
  await stage.until('it is disabled', isDisabled)
  await stage.patchRollout({ spec: { disabled: false } })
  await stage.pass(60_000)
  expect(await nodesOn(stage, 'v3')).toHaveLength(2)
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilReleased(stage, 'v3')
  expectKept(stage)
})

it.each([
  { title: 'the template of that release', image: 'v2', step: 2 },
  { title: 'another template', image: 'v3', step: 1 },
])('nodes that get $title from another client while the Rollout is disabled approve no step of it (G3)', async ({ image, step }) => {
  const four = [{ replicas: 1, pause: {} }, { replicas: 2, pause: {} }, { replicas: 3, pause: { duration: 1 } }, { replicas: '100%' }]
  stage = await setStage({ nodes: 6, maxUnavailable: 2, steps: four })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilPausedAt(stage, 2)
  await stage.patchRollout({ spec: { disabled: true } })
  await stage.until('it is disabled', isDisabled)
  await stage.setImage(image)
  for (const pod of (await stage.pods()).slice(0, 5)) await deletePod(stage, pod)
  await stage.until('most nodes run it', async () => (await nodesOn(stage, image)).length >= 5)
  await stage.patchRollout({ spec: { disabled: false } })
  await untilPausedAt(stage, step)
  await stage.pass(60_000)
  expect((await stage.rollout()).status?.canaryStatus).toMatchObject({ currentStepIndex: step, currentStepState: 'StepPaused' })
  for (let at = step; at <= 2; at++) {
    await untilPausedAt(stage, at)
    await stage.approve()
  }
  await untilReleased(stage, image)
  expectKept(stage)
})

/** Kinds of the objects that have a Frozen event. */
async function frozenEvents(): Promise<readonly string[]> {
  const { items } = await stage.client.list<{
    readonly metadata: never
    readonly reason: string
    readonly involvedObject: { readonly kind: string }
  }>(resourcePaths.events, { namespace: stageKey.namespace })
  return items
    .filter(({ reason }) => reason === 'Frozen')
    .map(({ involvedObject }) => involvedObject.kind)
    .toSorted()
}

async function rolloutGone(): Promise<boolean> {
  return (await stage.client.list(resourcePaths.rollouts, { namespace: stageKey.namespace })).items.length === 0
}

async function isDisabled(): Promise<boolean> {
  return (await stage.rollout()).status?.phase === 'Disabled'
}

async function setMaxUnavailable(maxUnavailable: number | string): Promise<void> {
  await stage.patchDaemonSet({ spec: { updateStrategy: { rollingUpdate: { maxUnavailable } } } })
}

async function setSteps(first: string): Promise<void> {
  await stage.patchRollout({ spec: { strategy: { canary: { steps: [{ replicas: first, pause: {} }, { replicas: '100%' }] } } } })
}
