import { afterEach, describe, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { daemonSetAnnotations as keys, rolloutAnnotations } from '@tranche/kube-types'
import { deletions, expectKept } from './expect-kept.ts'
import { nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '100%', pause: {} }, { replicas: '100%' }]

it('a version is rolled back although the history has lost the previous one (revisionHistoryLimit 0)', async () => {
  stage = await setStage({ nodes: 6, maxUnavailable: 2, steps })
  await stage.patchDaemonSet({ spec: { revisionHistoryLimit: 0 } })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.until('the history has lost v1', async () => (await revisions()) === 1)
  expect((await stage.release())?.status?.stableTemplate).toMatchObject({ revision: (await stage.rollout()).status?.stableRevision })
  await stage.patchRollout({ metadata: { annotations: { [rolloutAnnotations.action]: '{"id":"1","type":"abort","expectedStep":1}' } } })
  await untilReleased(stage, 'v1')
  expectKept(stage)
})

describe('a BatchRelease written by hand, with a control-info that', () => {
  const info = (fields: object): string => JSON.stringify({ apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'BatchRelease', ...fields })
  it.each([
    ['names a release that is gone', info({ name: 'gone', uid: 'gone' })],
    ['is no JSON', '{"name":'],
    ['names nothing', '{}'],
    ['is empty', ''],
    ['has the right name and another uid', info({ name: 'by-hand', uid: 'another' })],
  ])('%s, is held until the annotation is removed (F11 ForeignControl)', async (_what, value) => {
    stage = await setStage({ nodes: 4, withRollout: false, strategyType: 'OnDelete' })
    await stage.patchDaemonSet({ metadata: { annotations: { [keys.controlInfo]: value } } })
    await stage.setImage('v2')
    await createByHand()
    await stage.until('it is held', async () => (await byHand())?.status?.waiting?.reason === 'ForeignControl')
    await stage.pass(10_000)
    expect(await nodesOn(stage, 'v2')).toEqual([])
    expect(deletions(stage)).toBe(0)
    await stage.patchDaemonSet({ metadata: { annotations: { [keys.controlInfo]: null } } })
    await untilNodesOn(stage, 'v2', 4)
    expectKept(stage)
  })
})

async function revisions(): Promise<number> {
  return (await stage.client.list(resourcePaths.controllerRevisions, { namespace: stageKey.namespace })).items.length
}

async function createByHand(): Promise<void> {
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
}

async function byHand(): Promise<Awaited<ReturnType<Stage['release']>>> {
  return stage.client.get(resourcePaths.batchReleases, { ...stageKey, name: 'by-hand' })
}
