import { afterEach, describe, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { daemonSetAnnotations as keys } from '@tranche/kube-types'
import { deletions, expectKept } from './expect-kept.ts'
import { nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { rolloutManifest, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '100%' }]
const toHalf = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]

const isGone = async (): Promise<boolean> =>
  (await stage.client.list(resourcePaths.rollouts, { namespace: stageKey.namespace })).items.length === 0 &&
  (await stage.release()) === undefined
const isDisabled = async (): Promise<boolean> => (await stage.rollout()).status?.phase === 'Disabled'
const setTaints = async (names: readonly string[], taints: readonly object[] | null): Promise<void> => {
  for (const name of names)
    await stage.client.patch(resourcePaths.nodes, { namespace: '', name }, { type: 'merge', body: { spec: { taints } } })
}
const unsettled = async (): Promise<string | undefined> => (await stage.daemonSet()).metadata.annotations?.[keys.unsettled]

describe('a release of a bad version with nodes in flight, whose Rollout', () => {
  it.each([
    ['is deleted', () => stage.client.delete(resourcePaths.rollouts, stageKey), isGone],
    ['is disabled', () => stage.patchRollout({ spec: { disabled: true } }), isDisabled],
  ] as const)('%s, detaches, and the next release inherits the nodes (F11, G2)', async (_how, act, isOver) => {
    await setBrokenFleet()
    await act()
    await stage.until('it is over', isOver, 60_000)
    expect(await nodesOn(stage, 'bad-pull')).toHaveLength(2)
    for (const node of await nodesOn(stage, 'bad-pull')) expect(await unsettled()).toContain(node)
    const deleted = deletions(stage)
    await stage.pass(60_000)
    expect(deletions(stage)).toBe(deleted)

    // Nodes in flight are inherited as they are: another bad version takes no node beside them.
    await stage.setImage('bad-crash')
    await takeControlAgain()
    await stage.until('the bad pods are replaced', async () => (await nodesOn(stage, 'bad-crash')).length === 2)
    expect(await unsettled()).toBeUndefined()
    await stage.pass(60_000)
    expect(await nodesOn(stage, 'bad-crash')).toHaveLength(2)
    await stage.setImage('v3')
    await untilReleased(stage, 'v3')
    expectKept(stage)
  })

  it.each([
    ['is deleted', () => stage.client.delete(resourcePaths.rollouts, stageKey), isGone],
    ['is disabled', () => stage.patchRollout({ spec: { disabled: true } }), isDisabled],
  ] as const)('%s, freezes nodes that are out for a while, too (G3)', async (_how, act, isOver) => {
    stage = await setStage({ nodes: 4, maxUnavailable: 2, steps: toHalf, tolerations: [] })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    const old = await nodesOn(stage, 'v1')
    await setTaints(old, [{ key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' }])
    await stage.pass(10_000)
    await act()
    await stage.until('it is over', isOver, 60_000)
    expect((await stage.daemonSet()).metadata.annotations?.[keys.frozen]).toContain('"nodesLeft":2')
    await setTaints(old, null)
    await stage.pass(120_000)
    expect(await nodesOn(stage, 'v1')).toEqual(old)
  })

  it.each([
    {
      how: 'is deleted and created again',
      act: () => stage.client.delete(resourcePaths.rollouts, stageKey),
      isOver: isGone,
      begin: async (): Promise<void> =>
        void (await stage.client.create(resourcePaths.rollouts, rolloutManifest({ steps: toHalf }) as never)),
    },
    {
      how: 'is disabled and enabled again',
      act: () => stage.patchRollout({ spec: { disabled: true } }),
      isOver: isDisabled,
      begin: () => stage.patchRollout({ spec: { disabled: false } }),
    },
  ])('$how, updates no node past its step that was out meanwhile (G3)', async ({ act, isOver, begin }) => {
    stage = await setStage({ nodes: 4, maxUnavailable: 2, steps: toHalf, tolerations: [] })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    const old = await nodesOn(stage, 'v1')
    await setTaints(old, [{ key: 'dedicated', value: 'other', effect: 'NoSchedule' }])
    await stage.pass(10_000)
    await act()
    await stage.until('it is over', isOver, 60_000)
    await begin()
    await stage.pass(120_000)
    await setTaints(old, null)
    await stage.pass(120_000)
    expect(await nodesOn(stage, 'v1')).toEqual(old)
    expectKept(stage)
  })

  it('is deleted, is inherited by a BatchRelease written by hand (F11, G2)', async () => {
    await setBrokenFleet()
    await stage.client.delete(resourcePaths.rollouts, stageKey)
    await stage.until('it is over', isGone, 60_000)
    await stage.setImage('bad-crash')
    const release = {
      apiVersion: 'rollouts.kruise.io/v1beta1',
      kind: 'BatchRelease',
      metadata: { ...stageKey, name: 'by-hand' },
      spec: {
        workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: stageKey.name },
        releasePlan: { batches: [{ canaryReplicas: '100%' }], batchPartition: 0, enableExtraWorkloadForCanary: false },
      },
    }
    await stage.client.create(resourcePaths.batchReleases, release as never)
    await stage.until('the bad pods are replaced', async () => (await nodesOn(stage, 'bad-crash')).length === 2)
    await stage.pass(60_000)
    expect(await nodesOn(stage, 'bad-crash')).toHaveLength(2)
    expectKept(stage)
  })
})

it('a deleted Rollout leaves nothing behind if the nodes in flight come up in time', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 3)
  await stage.client.delete(resourcePaths.rollouts, stageKey)
  await stage.until('it is over', isGone, 30_000)
  expect(await unsettled()).toBeUndefined()
  expect((await stage.daemonSet()).metadata.annotations).toHaveProperty([keys.frozen])
  expectKept(stage)
})

/** Fleet without a Ready pod, so only the nodes in flight limit deletions (G2). Two of them run a version that never starts. */
async function setBrokenFleet(): Promise<void> {
  stage = await setStage({ nodes: 8, maxUnavailable: 2, steps })
  for (const { metadata } of await stage.pods()) {
    const body = {
      status: { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: new Date(stage.clock.nowMs()).toISOString() }] },
    }
    await stage.client.patch(resourcePaths.pods, metadata as never, { type: 'strategic', body }, { subresource: 'status' })
  }
  await stage.setImage('bad-pull')
  await untilNodesOn(stage, 'bad-pull', 2)
  await stage.pass(10_000)
  expect(await nodesOn(stage, 'bad-pull')).toHaveLength(2)
}

async function takeControlAgain(): Promise<void> {
  const isThere = !(await isGone())
  if (isThere) await stage.patchRollout({ spec: { disabled: false } })
  else await stage.client.create(resourcePaths.rollouts, rolloutManifest({ steps }) as never)
}
