import type { BatchRelease } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import { afterEach, describe, expect, it } from 'vitest'
import { define } from './definitions.ts'
import { deletions, expectKept } from './expect-kept.ts'
import { condition, nodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { rolloutManifest, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const lacks =
  /CustomResourceDefinitions are older ones.*Rollout lacks status\.stableRevision.*BatchRelease lacks spec\.tranche.*; apply those of this version/

describe('under the definitions of OpenKruise', () => {
  it('no release starts, the Rollout says why, and nothing is written over and over', async () => {
    stage = await setStage({ withRollout: false, controllers: [], strategyType: 'OnDelete' })
    await define(stage, 'theirs')
    await stage.client.create(resourcePaths.rollouts, rolloutManifest({}) as never)
    await stage.startController('controller-1')
    await stage.setImage('v2')
    await untilOutdated()
    expect((await condition(stage, 'Stalled'))?.message).toMatch(lacks)
    expect((await stage.rollout()).status?.canaryStatus).toBeDefined()
    const { items } = await stage.client.list<{ readonly reason: string }>(resourcePaths.events, { namespace: stageKey.namespace })
    expect(items.filter(({ reason }) => reason === 'CRDOutdated')).toHaveLength(1)
    const written = writes()
    await stage.pass(60_000)
    expect(writes()).toBe(written)
    expect(deletions(stage)).toBe(0)
    expect(await stage.release()).toBeUndefined()
  })

  it('the release starts by itself once ours are applied', async () => {
    stage = await setStage({ withRollout: false, controllers: [], strategyType: 'OnDelete' })
    await define(stage, 'theirs')
    await stage.client.create(resourcePaths.rollouts, rolloutManifest({}) as never)
    await stage.startController('controller-1')
    await stage.setImage('v2')
    await untilOutdated()
    await define(stage, 'ours')
    await untilPausedAt(stage, 1)
    expect((await condition(stage, 'Stalled'))?.status).toBe('False')
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('a Rollout can be deleted', async () => {
    stage = await setStage({ withRollout: false, controllers: [], strategyType: 'OnDelete' })
    await define(stage, 'theirs')
    await stage.client.create(resourcePaths.rollouts, rolloutManifest({}) as never)
    await stage.startController('controller-1')
    await untilOutdated()
    await stage.client.delete(resourcePaths.rollouts, stageKey)
    await stage.until('the Rollout is gone', async () => (await rollouts()) === 0)
  })

  it('a BatchRelease written by hand says why it waits, and is carried out once ours are applied', async () => {
    stage = await setStage({ withRollout: false, controllers: [], strategyType: 'OnDelete' })
    await define(stage, 'theirs')
    await stage.client.create(resourcePaths.batchReleases, byHand as never)
    await stage.startController('controller-1')
    await stage.setImage('v2')
    await stage.until('it says why', async () => lacks.test((await stage.release())?.status?.message ?? ''))
    await stage.pass(60_000)
    expect(deletions(stage)).toBe(0)
    await define(stage, 'ours')
    await stage.until('its batch is updated', async () => (await nodesOn(stage, 'v2')).length === 4)
    expectKept(stage)
  })
})

it('definitions that are put back in mid-release stop it before the next batch, and it goes on when ours return', async () => {
  stage = await setStage({ nodes: 10 })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await define(stage, 'theirs')
  await stage.approve()
  await untilOutdated()
  await stage.pass(60_000)
  expect(deletions(stage)).toBe(2)
  await define(stage, 'ours')
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

const byHand: BatchRelease & { readonly apiVersion: string; readonly kind: string } = {
  apiVersion: 'rollouts.kruise.io/v1beta1',
  kind: 'BatchRelease',
  metadata: { ...stageKey } as BatchRelease['metadata'],
  spec: {
    workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: stageKey.name },
    releasePlan: { batches: [{ canaryReplicas: 4 }, { canaryReplicas: '100%' }], batchPartition: 0, enableExtraWorkloadForCanary: false },
  },
}

async function untilOutdated(): Promise<void> {
  await stage.until('it is stalled', async () => (await condition(stage, 'Stalled'))?.reason === 'CRDOutdated')
}

async function rollouts(): Promise<number> {
  return (await stage.client.list(resourcePaths.rollouts, { namespace: stageKey.namespace })).items.length
}

function writes(): number {
  return stage.recording().filter(({ kind }) => kind === 'Rollout' || kind === 'BatchRelease').length
}
