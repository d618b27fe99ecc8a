import { afterEach, describe, expect, it } from 'vitest'
import type { Forecast, ForecastRequest } from '@tranche/api-schema'
import { createSharedClusterCache } from '@tranche/cluster'
import { startController } from '@tranche/controller'
import { startExecutor } from '@tranche/executor'
import { forecast } from '@tranche/forecast'
import { resourcePaths } from '@tranche/kube-client'
import { type ControllerRevision, daemonSetAnnotations, REVISION_HASH_LABEL } from '@tranche/kube-types'
import { readSnapshot } from '@tranche/release-client'
import { deletions, expectKept } from './expect-kept.ts'
import { deletePod } from './hands.ts'
import { condition, nodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { drive, setStage, type Stage } from './stage.ts'
import { imageOf, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

describe('a Rollout that was disabled in mid-release', () => {
  it('names the current template, and reports that nothing releases it', async () => {
    stage = await setStage({ nodes: 10 })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await disable()
    const v2 = await currentRevision()
    expect((await stage.rollout()).status?.message).toContain(`8 of 10 nodes do not run revision ${v2} of the template`)
    await stage.setImage('v3')
    await stage.until('v3 is named', async () => {
      const v3 = await currentRevision()
      return v3 !== v2 && (await message()).includes(`10 of 10 nodes do not run revision ${v3} of the template`)
    })
    expect(await message()).not.toContain(`revision ${v2} of the template`)
    expect(await plan({})).toMatchObject({ outcome: 'Blocked', message: expect.stringContaining('the Rollout is disabled') as string })
  })

  it('reports when every node runs the template without a release', async () => {
    stage = await setStage({ nodes: 4 })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await disable()
    await stage.patchDaemonSet({ spec: { updateStrategy: { type: 'RollingUpdate' } } })
    await stage.until('every node runs v2', async () => (await stage.daemonSet()).status?.updatedNumberScheduled === 4)
    await stage.patchDaemonSet({ spec: { updateStrategy: { type: 'OnDelete' } } })
    await stage.until('it is reported', async () => (await message()).includes('every node runs revision'))
    expect(await plan({})).toMatchObject({
      outcome: 'Completes',
      message: expect.stringContaining('every node runs the current template') as string,
    })
  })
})

describe('for Argo CD and Flux, a Rollout that was disabled in mid-release', () => {
  it('is complete once every node runs the template, and deletes nothing when it is enabled again (G3)', async () => {
    stage = await setStage({ nodes: 4, steps: [{ replicas: 1, pause: {} }, { replicas: 2, pause: {} }, { replicas: '100%' }] })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await disable()
    expect(await stepState()).toBe('StepPaused')
    await stage.patchDaemonSet({ spec: { updateStrategy: { type: 'RollingUpdate' } } })
    await stage.until('every node runs v2', async () => (await nodesOn(stage, 'v2')).length === 4)
    await stage.until('it is complete', async () => (await stepState()) === 'Completed')
    expect((await stage.rollout()).status).toMatchObject({
      phase: 'Disabled',
      currentStepState: 'Completed',
      canaryStatus: { currentStepIndex: 1, nextStepIndex: -1 },
    })
    const deleted = deletions(stage)
    await stage.patchRollout({ spec: { disabled: false } })
    await untilReleased(stage, 'v2')
    expect(deletions(stage)).toBe(deleted)
    expectKept(stage)
  })

  it('is incomplete again when another template comes under OnDelete', async () => {
    stage = await setStage({ nodes: 4, steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await disable()
    for (const pod of await stage.pods()) await deletePod(stage, pod)
    await stage.until('every node runs v2', async () => (await nodesOn(stage, 'v2')).length === 4)
    await stage.until('it is complete', async () => (await stepState()) === 'Completed')
    await stage.setImage('v3')
    await stage.until('it is incomplete', async () => (await stepState()) === 'StepPaused')
    expect(await message()).toContain('4 of 4 nodes do not run revision')
    for (const pod of await stage.pods()) await deletePod(stage, pod)
    await stage.until('it is complete again', async () => (await stepState()) === 'Completed')
    expectKept(stage)
  })

  it('stays complete while Kubernetes itself updates the nodes to another template', async () => {
    const annotations = { 'sim.tranche.dev/start-ms': '8000' }
    stage = await setStage({ nodes: 4, annotations, steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await disable()
    await stage.patchDaemonSet({ spec: { updateStrategy: { type: 'RollingUpdate' } } })
    await stage.until('it is complete', async () => (await stepState()) === 'Completed')
    await stage.setImage('v3')
    await stage.until('v3 is on its way', async () => (await nodesOn(stage, 'v3')).length === 2)
    expect(await stepState()).toBe('Completed')
  })

  it('stays complete if only a dead node was left', async () => {
    stage = await setStage({ nodes: 4, maxUnavailable: 2, admission: 'inProcess', steps: [{ replicas: '100%' }] })
    await drive(stage.clock, stage.simulator.nodes.kill('node-003'))
    await stage.pass(60_000)
    await stage.setImage('v2')
    await stage.until('it is Healthy', async () => (await condition(stage, 'StrategyRestored'))?.reason === 'NodesLeft')
    await disable()
    await stage.pass(10_000)
    expect((await stage.daemonSet()).metadata.annotations).toHaveProperty([daemonSetAnnotations.frozen])
    expect(await stepState()).toBe('Completed')
  })
})

it('the forecast of a disabled Rollout on RollingUpdate says that Kubernetes updates the nodes itself', async () => {
  stage = await setStage({ nodes: 4, admission: 'inProcess' })
  await disable()
  const foretold = await plan({ image: imageOf('v2') })
  expect(foretold).toMatchObject({
    outcome: 'Blocked',
    message: expect.stringContaining('Kubernetes updates all nodes itself') as string,
  })
})

it('the forecast has no pause after a last step as large as the fleet', async () => {
  stage = await setStage({
    nodes: 5,
    steps: [
      { replicas: 2, pause: {} },
      { replicas: 5, pause: {} },
    ],
  })
  const { batches } = await plan({ image: imageOf('v2') })
  expect(batches).toMatchObject([{ nodes: 2, pause: 'person' }, { nodes: 3 }])
  expect(batches[1]).not.toHaveProperty('pause')
})

async function disable(): Promise<void> {
  await stage.patchRollout({ spec: { disabled: true } })
  await stage.until('it is disabled', async () => (await stage.rollout()).status?.phase === 'Disabled')
}

async function plan(request: ForecastRequest): Promise<Forecast> {
  const snapshot = await drive(stage.clock, readSnapshot(stage.client, stageKey, { nowMs: stage.clock.nowMs() }))
  return forecast(snapshot, request, { createSharedClusterCache, startController, startExecutor })
}

async function stepState(): Promise<string | undefined> {
  return (await stage.rollout()).status?.canaryStatus?.currentStepState
}

async function message(): Promise<string> {
  return (await stage.rollout()).status?.message ?? ''
}

async function currentRevision(): Promise<string> {
  const { items } = await stage.client.list<ControllerRevision>(resourcePaths.controllerRevisions, { namespace: stageKey.namespace })
  const newest = items.toSorted((a, b) => b.revision - a.revision)[0]
  return newest?.metadata.labels?.[REVISION_HASH_LABEL] ?? 'none'
}

it('a version that fails and is left in mid-release names its failure and the way back', async () => {
  stage = await setStage({ nodes: 8, maxUnavailable: 2, steps: [{ replicas: '50%', pause: {} }, { replicas: '100%' }] })
  await stage.setImage('v2-bad-crash')
  await stage.until('it fails', async () => (await stage.rollout()).status?.failure?.stops === true)
  await stage.patchRollout({ spec: { disabled: true } })
  await stage.until('it is disabled', async () => (await stage.rollout()).status?.phase === 'Disabled')
  const { message } = (await stage.rollout()).status!
  expect(message).toMatch(
    /it has failed \(\d of 8 nodes .*\): to go back, run tranche undo node-agent -n demo and enable the Rollout; to continue/,
  )
})
