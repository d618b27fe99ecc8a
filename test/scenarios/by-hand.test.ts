import { afterEach, expect, it } from 'vitest'
import type { BatchRelease } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import { daemonSetAnnotations as keys } from '@tranche/kube-types'
import { deletions, expectKept } from './expect-kept.ts'
import { nodesOn, untilNodesOn, untilPausedAt } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const key = { ...stageKey, name: 'by-hand' }

it('a BatchRelease written by hand is carried out batch by batch, and then the DaemonSet is detached (G1, G3)', async () => {
  // Before the BatchRelease exists, Tranche does not stop the native controller, so the DaemonSet declares OnDelete.
  stage = await setStage({ nodes: 10, maxUnavailable: 2, withRollout: false, strategyType: 'OnDelete' })
  await stage.setImage('v2')
  await create(0)
  await untilReady(0)
  await stage.pass(60_000)
  expect(await nodesOn(stage, 'v2')).toHaveLength(3)
  await setPartition(1)
  await untilReady(1)
  expect(await nodesOn(stage, 'v2')).toHaveLength(10)
  await setPartition(null)
  await stage.until('it is completed', async () => (await byHand()).status?.phase === 'Completed')
  expect((await stage.daemonSet()).metadata.annotations).not.toHaveProperty([keys.controlInfo])
  expectKept(stage)
})

it('a BatchRelease written by hand is held while a Rollout controls the DaemonSet, and reports why', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2 })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const deleted = deletions(stage)
  await create(1)
  await stage.pass(60_000)
  expect(deletions(stage)).toBe(deleted)
  expect(await nodesOn(stage, 'v2')).toHaveLength(2)
  const { waiting } = (await byHand()).status ?? {}
  expect(waiting?.message).toContain('node-agent')
  await stage.approve()
  await untilNodesOn(stage, 'v2', 10)
  expectKept(stage)
})

it('a BatchRelease written by hand releases the next template after a failed one, superseded nodes first, and restores the strategy at its end', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, withRollout: false, strategyType: 'OnDelete' })
  await stage.patchDaemonSet({ spec: { updateStrategy: { type: 'RollingUpdate' } } })
  await create(0)
  await stage.until('it is in charge', async () => keys.controlInfo in ((await stage.daemonSet()).metadata.annotations ?? {}))
  expect((await stage.daemonSet()).spec.updateStrategy?.type).toBe('OnDelete')
  await stage.setImage('v2-bad-crash')
  await stage.until('it has failed', async () => (await byHand()).status?.failure?.stops === true)
  await stage.pass(60_000)
  const bad = await nodesOn(stage, 'v2-bad-crash')
  expect(bad.length).toBeGreaterThan(0)
  await stage.setImage('v3')
  await untilReady(0)
  expect(await nodesOn(stage, 'v3')).toEqual(expect.arrayContaining([...bad]))
  expect((await byHand()).status?.failure).toBeUndefined()
  await setPartition(1)
  await untilReady(1)
  await setPartition(null)
  await stage.until('it is completed', async () => (await byHand()).status?.phase === 'Completed')
  const { metadata, spec } = await stage.daemonSet()
  expect(Object.keys(metadata.annotations ?? {}).filter((key) => /kruise|tranche/.test(key))).toEqual([])
  expect(spec.updateStrategy?.type).toBe('RollingUpdate')
  expect(await nodesOn(stage, 'v3')).toHaveLength(10)
  expectKept(stage)
})

async function create(batchPartition: number): Promise<void> {
  const release = {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'BatchRelease',
    metadata: key,
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: stageKey.name },
      releasePlan: {
        batches: [{ canaryReplicas: '30%' }, { canaryReplicas: '100%' }],
        batchPartition,
        enableExtraWorkloadForCanary: false,
      },
    },
  }
  await stage.client.create(resourcePaths.batchReleases, release as never)
}

async function setPartition(batchPartition: number | null): Promise<void> {
  await stage.client.patch(resourcePaths.batchReleases, key, { type: 'merge', body: { spec: { releasePlan: { batchPartition } } } })
}

async function byHand(): Promise<BatchRelease> {
  return stage.client.get<BatchRelease>(resourcePaths.batchReleases, key)
}

async function untilReady(batch: number): Promise<void> {
  await stage.until(`batch ${batch} is ready`, async () => {
    const { canaryStatus } = (await byHand()).status ?? {}
    return canaryStatus?.currentBatch === batch && canaryStatus.batchState === 'Ready'
  })
}
