import { afterEach, describe, expect, it } from 'vitest'
import type { Rollout } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import { daemonSetAnnotations as keys } from '@tranche/kube-types'
import { expectKept } from '../expect-kept.ts'
import { events } from '../hands.ts'
import { nodesOn, untilNodesOn, untilPausedAt, untilReleased } from '../looks.ts'
import { setStage, type Stage } from '../stage.ts'
import { daemonSetManifest, stageKey } from '../stage-objects.ts'
import { crews, deleted, isHealthy, isPaused, measuredPods, mostDown } from './measured.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '10%', pause: {} }, { replicas: '100%' }]

describe.each(crews)('with $crew', ({ executors }) => {
  it('releases the next version to a DaemonSet that was deleted and created again in mid-release (X17, W18, F11)', async () => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, annotations: measuredPods, executors })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.client.delete(resourcePaths.daemonSets, stageKey)
    await stage.until('no pod is left', async () => (await stage.pods()).length === 0)
    await stage.client.create(resourcePaths.daemonSets, daemonSetManifest({ maxUnavailable: 2, annotations: measuredPods }) as never)
    await untilNodesOn(stage, 'v1', 10)
    await stage.until('it is Healthy', () => isHealthy(stage))
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v3')
    await untilPausedAt(stage, 1, 40_000)
    expect(await nodesOn(stage, 'v3')).toHaveLength(1)
    await stage.approve()
    await untilReleased(stage, 'v3', 120_000)
    expect(mostDown(stage, sinceMs)).toBe(2)
    expect(deleted(stage, sinceMs)).toHaveLength(10)
    expectKept(stage)
  })

  it('continues within the budget 10 s after every Tranche program was killed at 12 of 30 nodes (X22, G1, G7)', async () => {
    const all = [{ replicas: '100%' }]
    stage = await setStage({ nodes: 30, maxUnavailable: 5, steps: all, annotations: measuredPods, executors })
    await createOther()
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 12)
    for (const identity of ['controller-1', ...executors]) stage.program(identity).kill()
    const before = deleted(stage).length
    await stage.pass(10_000)
    expect(deleted(stage)).toHaveLength(before)
    expect(mostDown(stage, stage.clock.nowMs())).toBe(0)
    await labelOther()

    const backMs = stage.clock.nowMs()
    await stage.startController('controller-9')
    for (const [at] of executors.entries()) await stage.startExecutor(`executor-${at + 8}`)
    await untilNodesOn(stage, 'v2', 30)
    // At least 13 pods were left: three rounds of up to 3.5 s.
    expect(stage.clock.nowMs() - backMs).toBeLessThan(15_000)
    await untilReleased(stage, 'v2')
    expect(mostDown(stage, sinceMs)).toBe(5)
    expectKept(stage)
  })
})

it('a release ends although the controller is killed after each single write (X22, G7)', async () => {
  let number = 1
  let isMortal = false
  stage = await setStage({
    nodes: 6,
    maxUnavailable: 2,
    steps: [{ replicas: '50%', pause: {} }, { replicas: '100%' }],
    annotations: measuredPods,
    startsWhileRunning: true,
    tap: (identity, exchange) => async (request, signal) => {
      const response = await exchange(request, signal)
      if (isMortal && request.method !== 'GET' && identity === `controller-${number}`) succeed(identity)
      return response
    },
  })
  const succeed = (identity: string): void => {
    stage.program(identity).kill()
    stage.clock.setTimer(50, () => void stage.startController(`controller-${++number}`))
  }
  isMortal = true
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  expect(await nodesOn(stage, 'v2')).toHaveLength(3)
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  await stage.until('the pause is acknowledged', () => isPaused(stage))
  await stage.setImage('v3')
  await stage.patchRollout({ spec: { strategy: { paused: false } } })
  await stage.until('v3 is released', async () => (await nodesOn(stage, 'v3')).length > 0)
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilReleased(stage, 'v3')
  await stage.until('the release is deleted', async () => (await stage.release()) === undefined)
  expect(number).toBeGreaterThan(30)
  expectKept(stage)
})

it('the controller starts one release with the right revisions, although it sees revisions 5 s late (W26)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, annotations: measuredPods })
  stage.disturb({
    onEvent: ({ actor, resource }) =>
      actor === 'controller-1' && resource.resource === 'controllerrevisions' ? { kind: 'delay', ms: 5_000 } : undefined,
  })
  const v1 = (await stage.pods())[0]?.metadata.labels?.['controller-revision-hash']
  const sinceMs = stage.clock.nowMs()
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const said = stage
    .recording()
    .filter(({ kind, t }) => kind === 'Rollout' && t > sinceMs)
    .map(({ o }) => (o as unknown as Rollout).status)
    .filter((status) => status?.phase === 'Progressing')
  expect(said.filter((status) => status?.canaryStatus?.canaryRevision === v1)).toEqual([])
  expect(new Set(said.map((status) => status?.canaryStatus?.stableRevision))).toEqual(new Set([v1]))
  const releases = stage.recording().filter(({ kind, type }) => kind === 'BatchRelease' && type === 'ADDED')
  expect(releases).toHaveLength(1)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

describe.each([
  ['deleted', () => stage.client.delete(resourcePaths.rollouts, stageKey), isGone],
  ['disabled', () => stage.patchRollout({ spec: { disabled: true } }), isDisabled],
] as const)('a Rollout that is %s at step 1', (_how, act, isOver) => {
  it('leaves five of 30 nodes on the new version and reports it, and nothing more is released (X13, W14, G9)', async () => {
    const five = [{ replicas: 5, pause: {} }, { replicas: '100%' }]
    stage = await setStage({ nodes: 30, maxUnavailable: 5, steps: five, annotations: measuredPods, admission: 'inProcess' })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await act()
    await stage.until('it is over', isOver)
    await stage.pass(600_000)
    expect(await nodesOn(stage, 'v2')).toHaveLength(5)
    expect(deleted(stage)).toHaveLength(5)
    const { spec, metadata } = await stage.daemonSet()
    expect(spec.updateStrategy?.type).toBe('OnDelete')
    expect(metadata.annotations).toMatchObject({ [keys.originalUpdateStrategy]: 'RollingUpdate' })
    expect(metadata.annotations).toHaveProperty([keys.frozen])
    const frozen = (await events(stage)).filter(({ reason }) => reason === 'Frozen')
    expect(frozen.map(({ involvedObject }) => involvedObject.kind).toSorted()).toEqual(['DaemonSet', 'Rollout'])
    expectKept(stage)
  })
})

describe.each([
  ['deleted', () => stage.client.delete(resourcePaths.rollouts, stageKey), isGone],
  ['disabled', () => stage.patchRollout({ spec: { disabled: true } }), isDisabled],
] as const)('a Rollout with tranche.dev/on-delete that is %s at step 1', (_how, act, isOver) => {
  it.each([
    { policy: 'Complete', tag: 'v2', more: 25 },
    { policy: 'Rollback', tag: 'v1', more: 5 },
  ])(
    'ends with every node on $tag and the original strategy: tranche.dev/on-delete $policy (X13, W14, G1)',
    async ({ policy, tag, more }) => {
      const five = [{ replicas: 5, pause: {} }, { replicas: '100%' }]
      stage = await setStage({ nodes: 30, maxUnavailable: 5, steps: five, annotations: measuredPods, admission: 'inProcess' })
      await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/on-delete': policy } } })
      await stage.setImage('v2')
      await untilPausedAt(stage, 1)
      const sinceMs = stage.clock.nowMs()
      await act()
      await stage.until('it is over', isOver)
      await stage.until('the strategy is restored', async () => (await stage.daemonSet()).spec.updateStrategy?.type === 'RollingUpdate')
      await stage.pass(60_000)
      expect(await nodesOn(stage, tag)).toHaveLength(30)
      expect(deleted(stage, sinceMs)).toHaveLength(more)
      expect(deleted(stage).every(({ actor }) => actor.startsWith('executor'))).toBe(true)
      expect(mostDown(stage, sinceMs)).toBe(5)
      expect((await stage.daemonSet()).metadata.annotations ?? {}).not.toHaveProperty([keys.originalUpdateStrategy])
      expectKept(stage)
    },
  )
})

async function isGone(): Promise<boolean> {
  return (await stage.client.list(resourcePaths.rollouts, { namespace: stageKey.namespace })).items.length === 0
}

async function isDisabled(): Promise<boolean> {
  return (await stage.rollout()).status?.phase === 'Disabled'
}

/** Creates another DaemonSet in another namespace. */
async function createOther(): Promise<void> {
  const manifest = daemonSetManifest({}) as { readonly metadata: object }
  await stage.client.create(resourcePaths.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'others' } } as never)
  await stage.client.create(resourcePaths.daemonSets, { ...manifest, metadata: { namespace: 'others', name: 'other' } } as never)
}

async function labelOther(): Promise<void> {
  const body = { metadata: { labels: { changed: 'yes' } } }
  await stage.client.patch(resourcePaths.daemonSets, { namespace: 'others', name: 'other' }, { type: 'merge', body })
}
