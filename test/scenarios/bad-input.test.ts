import { afterEach, describe, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { deletions, expectKept } from './expect-kept.ts'
import { condition, nodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { daemonSetManifest, rolloutManifest, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const canary = 'spec.strategy.canary'

/** Specs that only admission could reject. */
const held = [
  {
    what: 'steps that shrink',
    spec: { steps: [{ replicas: '50%' }, { replicas: '20%' }] },
    field: `${canary}.steps[1].replicas`,
    value: '"20%"',
    reason: 'InvalidSpec',
  },
  {
    what: 'a step of 0',
    spec: { steps: [{ replicas: 0 }, { replicas: '100%' }] },
    field: `${canary}.steps[0].replicas`,
    value: '0',
    reason: 'InvalidSpec',
  },
  {
    what: 'a step of 0 %',
    spec: { steps: [{ replicas: '0%' }] },
    field: `${canary}.steps[0].replicas`,
    value: '"0%"',
    reason: 'InvalidSpec',
  },
  {
    what: 'a step over 100 %',
    spec: { steps: [{ replicas: '120%' }] },
    field: `${canary}.steps[0].replicas`,
    value: '"120%"',
    reason: 'InvalidSpec',
  },
  {
    what: 'traffic in a step',
    spec: { steps: [{ replicas: '10%', traffic: '10%' }] },
    field: `${canary}.steps[0].traffic`,
    value: '"10%"',
    reason: 'UnsupportedField',
  },
  {
    what: 'traffic routings',
    spec: { steps: [{ replicas: '100%' }], trafficRoutings: [{ service: 'agent', ingress: { name: 'agent' } }] },
    field: `${canary}.trafficRoutings`,
    value: 'agent',
    reason: 'UnsupportedField',
  },
]

describe.each(held)('a Rollout with $what', ({ spec, field, value, reason }) => {
  const manifest = (): { spec: { strategy: { canary: object } } } => {
    const rollout = rolloutManifest({}) as { spec: { strategy: { canary: object } } }
    return { ...rollout, spec: { ...rollout.spec, strategy: { canary: spec } } }
  }

  it('is held without admission: the status names field, value and fix, and nothing is deleted', async () => {
    stage = await setStage({ withRollout: false })
    await stage.client.create(resourcePaths.rollouts, manifest() as never, { fieldValidation: 'Ignore' } as never)
    await stage.setImage('v2')
    await stage.until('it is stalled', async () => (await condition(stage, 'Stalled'))?.status === 'True')
    const stalled = (await condition(stage, 'Stalled'))!
    expect(stalled.reason).toBe(reason)
    expect(stalled.message).toContain(field)
    expect(stalled.message).toContain(value)
    expect(stalled.message).toContain('; ')
    expect((await stage.rollout()).status?.message).toBe(stalled.message)
    await stage.pass(60_000)
    expect(deletions(stage)).toBe(0)
  })

  it('is rejected by admission with the same text', async () => {
    stage = await setStage({ withRollout: false, admission: 'inProcess' })
    const refused = stage.client.create(resourcePaths.rollouts, manifest() as never)
    await expect(refused).rejects.toMatchObject({ status: 422, causes: [{ field }] })
    await refused.catch((error: Error) => expect(error.message).toContain(value))
  })

  it('stops a running release, which continues once the Rollout is fixed (F8, F9)', async () => {
    stage = await setStage({ nodes: 20 })
    await stage.setImage('v2')
    await stage.until('the release runs', () => deletions(stage) > 0)
    const { steps } = (await stage.rollout()).spec.strategy.canary!
    await stage.patchRollout({ spec: { strategy: { canary: spec } } })
    await stage.until('it is stalled', async () => (await condition(stage, 'Stalled'))?.status === 'True')
    await stage.until('the stop is acknowledged', async () => {
      const { metadata, status } = await stage.rollout()
      return status?.observedGeneration === metadata.generation
    })
    const deleted = deletions(stage)
    await stage.pass(60_000)
    expect(deletions(stage)).toBe(deleted)
    await stage.patchRollout({ spec: { strategy: { canary: { steps, trafficRoutings: null } } } })
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })
})

describe.each([
  {
    what: 'maxUnavailable 0',
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 },
    field: 'spec.updateStrategy.rollingUpdate.maxSurge',
    value: '1',
  },
  {
    what: 'a surge',
    rollingUpdate: { maxUnavailable: 0, maxSurge: '10%' },
    field: 'spec.updateStrategy.rollingUpdate.maxSurge',
    value: '"10%"',
  },
])('a DaemonSet with $what', ({ rollingUpdate, field, value }) => {
  it('is not released until it is fixed, and the status says how', async () => {
    stage = await setStage({ nodes: 10 })
    await stage.patchDaemonSet({ spec: { updateStrategy: { rollingUpdate } } })
    await stage.setImage('v2')
    await stage.until('it is stalled', async () => (await condition(stage, 'Stalled'))?.reason === 'BudgetZero')
    const { message } = (await condition(stage, 'Stalled'))!
    expect(message).toContain(`${field} is ${value}`)
    await stage.pass(60_000)
    expect(deletions(stage)).toBe(0)
    await stage.patchDaemonSet({ spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 2, maxSurge: 0 } } } })
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })
})

it('a Rollout reports that its workload is missing, and starts when it exists', async () => {
  stage = await setStage({ nodes: 10, withRollout: false })
  await stage.client.delete(resourcePaths.daemonSets, stageKey)
  await stage.client.create(resourcePaths.rollouts, rolloutManifest({}) as never)
  await stage.until('it is stalled', async () => (await condition(stage, 'Stalled'))?.reason === 'WorkloadNotFound')
  expect((await stage.rollout()).status?.message).toContain('spec.workloadRef.name is "node-agent": there is no such DaemonSet')
  expect((await stage.rollout()).status?.canaryStatus).toBeDefined()
  await stage.until('the old pods are gone', async () => (await stage.pods()).length === 0)
  await stage.client.create(resourcePaths.daemonSets, daemonSetManifest({}) as never)
  await stage.until('it is Healthy', async () => (await stage.rollout()).status?.phase === 'Healthy')
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('the first Rollout keeps its DaemonSet, the second reports why it waits, and takes over when the first is deleted', async () => {
  stage = await setStage({ nodes: 10 })
  await stage.client.create(resourcePaths.rollouts, rolloutManifest({}, 'second') as never)
  const stalledReason = async (): Promise<string | undefined> =>
    (await stage.rollout('second')).status?.conditions?.find(({ type, status }) => type === 'Stalled' && status === 'True')?.reason
  await stage.until('the second is stalled', async () => (await stalledReason()) === 'WorkloadTaken')
  expect((await stage.rollout('second')).status?.message).toContain('node-agent')
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  expect((await stage.rollout('second')).status?.phase).not.toBe('Progressing')
  await stage.approve()
  await untilReleased(stage, 'v2')
  await stage.client.delete(resourcePaths.rollouts, stageKey)
  await stage.until(
    'the second has it',
    async () => (await stage.rollout('second')).status?.phase === 'Healthy' && (await stalledReason()) === undefined,
  )
  expectKept(stage)
})

describe('a BatchRelease written by hand that breaks rules', () => {
  const releasePlan = { batches: [{ canaryReplicas: 4 }, { canaryReplicas: 2 }], batchPartition: 5, enableExtraWorkloadForCanary: false }
  const byHand = {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'BatchRelease',
    metadata: stageKey,
    spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: stageKey.name }, releasePlan },
  }

  it('is held, names the fields, deletes nothing, and is carried out once it is fixed', async () => {
    stage = await setStage({ withRollout: false, strategyType: 'OnDelete' })
    await stage.client.create(resourcePaths.batchReleases, byHand as never)
    await stage.setImage('v2')
    await stage.until('it is held', async () => (await stage.release())?.status?.waiting?.reason === 'InvalidSpec')
    expect((await stage.release())?.status?.message).toBe(
      'spec.releasePlan.batches[1].canaryReplicas is 2: sizes are cumulative and must not shrink, and batches[0] has 4; set it to at least 4, or make batches[0] smaller; and spec.releasePlan.batchPartition is 5: it must be the index of the last batch that may run, counted from 0; set it to a number from 0 to 1, or remove it to release every node',
    )
    await stage.pass(60_000)
    expect(deletions(stage)).toBe(0)
    const fixedPlan = { ...releasePlan, batches: [{ canaryReplicas: 4 }, { canaryReplicas: '100%' }], batchPartition: 0 }
    await stage.client.patch(resourcePaths.batchReleases, stageKey, { type: 'merge', body: { spec: { releasePlan: fixedPlan } } })
    await stage.until('its batch is updated', async () => (await nodesOn(stage, 'v2')).length === 4)
    expectKept(stage)
  })

  it('is rejected by admission with all of them', async () => {
    stage = await setStage({ withRollout: false, admission: 'inProcess' })
    await expect(stage.client.create(resourcePaths.batchReleases, byHand as never)).rejects.toMatchObject({
      status: 422,
      causes: [{ field: 'spec.releasePlan.batches[1].canaryReplicas' }, { field: 'spec.releasePlan.batchPartition' }],
    })
  })
})

it('the schema alone rejects an object if it can express the rule', async () => {
  stage = await setStage({ withRollout: false, controllers: [], executors: [] })
  const refusal = async (resource: 'rollouts' | 'batchReleases', object: object): Promise<string> => {
    const error: unknown = await stage.client.create(resourcePaths[resource], object as never).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ status: 422 })
    return (error as Error).message
  }
  const withStrategy = (strategy: object, kind = 'DaemonSet'): object => {
    const rollout = rolloutManifest({}) as { spec: { workloadRef: object } }
    return { ...rollout, spec: { ...rollout.spec, workloadRef: { ...rollout.spec.workloadRef, kind }, strategy } }
  }
  const [canary, blueGreen] = [{ steps: [{ replicas: 1 }] }, { steps: [{ replicas: 1 }] }]
  expect(await refusal('rollouts', withStrategy({ blueGreen }))).toContain(
    'list steps under strategy.canary in the place of strategy.blueGreen',
  )
  expect(await refusal('rollouts', withStrategy({ canary, blueGreen }, 'Deployment'))).toContain('spec.strategy: Invalid value')
  expect(await refusal('rollouts', withStrategy({}))).toContain('exactly one of canary and blueGreen')
  const releasePlan = { batches: [{ canaryReplicas: 1 }], batchPartition: -1, enableExtraWorkloadForCanary: false }
  const release = { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'BatchRelease', metadata: stageKey, spec: { releasePlan } }
  expect(await refusal('batchReleases', release)).toContain('spec.releasePlan.batchPartition')
  await stage.client.create(resourcePaths.rollouts, withStrategy({ blueGreen }, 'Deployment') as never)
})

it('a Rollout with an invalid annotation is held, and the status names the annotation', async () => {
  stage = await setStage({})
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/on-delete': 'Abort' } } })
  await stage.setImage('v2')
  await stage.until('it is stalled', async () => (await condition(stage, 'Stalled'))?.reason === 'InvalidSpec')
  expect((await condition(stage, 'Stalled'))?.message).toContain('metadata.annotations[tranche.dev/on-delete] is "Abort"')
  await stage.pass(60_000)
  expect(deletions(stage)).toBe(0)
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/on-delete': 'Freeze' } } })
  await untilPausedAt(stage, 1)
  expectKept(stage)
})
