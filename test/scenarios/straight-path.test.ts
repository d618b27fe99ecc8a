import { afterEach, describe, expect, it } from 'vitest'
import type { RolloutStatus } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import { type DaemonSet, daemonSetAnnotations as keys, ROLLOUT_BATCH_ID_LABEL, ROLLOUT_ID_LABEL } from '@tranche/kube-types'
import { expectKept } from './expect-kept.ts'
import { nodesOn, runs, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '10%', pause: {} }, { replicas: '50%', pause: { duration: 30 } }, { replicas: '100%' }]
const ofRelease = [keys.canaryRevision, keys.stableRevision, keys.partition, keys.controlInfo, keys.inProgressing]

describe.each(['none', 'inProcess', 'policy', 'webhook'] as const)('a release in three steps, with admission %s', (admission) => {
  it('goes from a new image to Healthy, batch by batch', async () => {
    stage = await setStage({ nodes: 20, steps, admission })
    const before = (await stage.daemonSet()).status?.observedGeneration
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    expect(await nodesOn(stage, 'v2')).toHaveLength(2)
    await stage.approve()
    await untilPausedAt(stage, 2)
    expect(await nodesOn(stage, 'v2')).toHaveLength(10)
    const sinceMs = stage.clock.monotonicMs()
    await untilReleased(stage, 'v2')
    expect(stage.clock.monotonicMs() - sinceMs).toBeGreaterThan(30_000)
    expect((await stage.daemonSet()).status?.observedGeneration).toBeGreaterThan(before!)
    expectKept(stage)
  })

  it('shows every key while it runs, and removes all but the bindings in one write', async () => {
    stage = await setStage({ nodes: 10, steps, admission })
    const resting = await stage.daemonSet()
    expect(Object.keys(resting.metadata.annotations ?? {})).not.toEqual(expect.arrayContaining(ofRelease))
    expect(resting.spec.updateStrategy?.type).toBe(admission === 'none' ? 'OnDelete' : 'RollingUpdate')

    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    const running = await stage.daemonSet()
    const v1 = (await stage.pods()).find((pod) => runs(pod, 'v1'))?.metadata.labels?.['controller-revision-hash']
    const v2 = (await stage.pods()).find((pod) => runs(pod, 'v2'))?.metadata.labels?.['controller-revision-hash']
    expect(running.metadata.annotations).toMatchObject({
      [keys.canaryRevision]: v2,
      [keys.stableRevision]: v1,
      [keys.partition]: '9',
      [keys.inProgressing]: '{"rolloutName":"node-agent"}',
      [keys.originalUpdateStrategy]: 'RollingUpdate',
      [keys.rollout]: 'node-agent',
    })
    expect(JSON.parse(running.metadata.annotations?.[keys.controlInfo] ?? '{}')).toMatchObject({ kind: 'BatchRelease', name: 'node-agent' })
    expect(running.metadata.labels).toMatchObject({ 'rollouts.kruise.io/workload-type': 'daemonset' })
    expect(running.spec.updateStrategy?.type).toBe('OnDelete')

    await stage.approve()
    await untilReleased(stage, 'v2')
    await stage.until('the BatchRelease is gone', async () => (await stage.release()) === undefined)
    const after = await stage.daemonSet()
    expect(after.metadata.annotations).toMatchObject({ [keys.rollout]: 'node-agent' })
    expect(Object.keys(after.metadata.annotations ?? {}).filter((key) => ofRelease.includes(key as never))).toEqual([])
    expect(after.metadata.annotations?.[keys.originalUpdateStrategy]).toBe(admission === 'none' ? 'RollingUpdate' : undefined)
    expect(after.spec.updateStrategy?.type).toBe(admission === 'none' ? 'OnDelete' : 'RollingUpdate')
    expect(stepsOfKeys()).toEqual(['all', 'none'])
    expectKept(stage)
  })

  it('labels the pods of each batch with the release and the batch, and no pod that has a permit (F13)', async () => {
    stage = await setStage({ nodes: 10, steps, admission })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilReleased(stage, 'v2')
    const pods = await stage.pods()
    const hash = pods[0]?.metadata.labels?.['controller-revision-hash']
    expect(pods.map(({ metadata }) => metadata.labels?.[ROLLOUT_ID_LABEL])).toEqual(Array(10).fill(hash))
    expect(pods.map(({ metadata }) => metadata.labels?.[ROLLOUT_BATCH_ID_LABEL]).toSorted()).toEqual([...'1222233333'])
    expectKept(stage)
  })
})

it('a DaemonSet that declares OnDelete is released and keeps it', async () => {
  stage = await setStage({ strategyType: 'OnDelete', admission: 'inProcess' })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilReleased(stage, 'v2')
  const after: DaemonSet = await stage.daemonSet()
  expect(after.spec.updateStrategy?.type).toBe('OnDelete')
  expect(after.metadata.annotations).not.toHaveProperty([keys.originalUpdateStrategy])
  expectKept(stage)
})

/** Whether all, part or none of the release's keys were on the DaemonSet, from the first canary revision on, without repetitions. */
function stepsOfKeys(): readonly string[] {
  const states = stage
    .recording()
    .filter(({ kind }) => kind === 'DaemonSet')
    .map(({ o }) => {
      const annotations = Object.keys((o['annotations'] as object | undefined) ?? {})
      const present = ofRelease.filter((key) => key !== keys.inProgressing && annotations.includes(key)).length
      return present === 0 ? 'none' : present === ofRelease.length - 1 ? 'all' : 'part'
    })
  const from = states.findIndex((state) => state !== 'none')
  return states.slice(from).filter((state, at, all) => state !== all[at - 1])
}

it('a Rollout without a release reports the number of nodes with an available pod', async () => {
  stage = await setStage({ nodes: 10 })
  const says = (count: number): Promise<void> =>
    stage.until(
      `it reports ${count}`,
      async () => (await stage.rollout()).status?.message?.includes(`is current; ${count} of 10 nodes are available`) === true,
      10_000,
    )
  await says(10)
  await stage.pass(30_000)
  const [pod] = await stage.pods()
  await stage.client.delete(resourcePaths.pods, { namespace: 'demo', name: pod!.metadata.name })
  await says(9)
  await says(10)
})

it('a release reports that it settles, and when it will be Healthy, as soon as it settles', async () => {
  stage = await setStage({ nodes: 4, steps: [{ replicas: '100%' }] })
  await stage.setImage('v2')
  await stage.until('it settles', async () => (await stage.rollout()).status?.settlingUntil !== undefined)
  const at = Date.parse((await stage.rollout()).status?.settlingUntil ?? '')
  expect(at - stage.clock.nowMs()).toBeGreaterThan(8_000)
  await untilReleased(stage, 'v2')
  expect(Math.abs(stage.clock.nowMs() - at)).toBeLessThan(2_000)
})

it.each(['none', 'inProcess'] as const)(
  'the end of a release reports the strategy as restored, and as nothing else (admission %s)',
  async (admission) => {
    stage = await setStage({ nodes: 6, steps: [{ replicas: '100%' }], admission })
    for (const tag of ['v2', 'v3']) {
      await stage.setImage(tag)
      await untilReleased(stage, tag)
      await stage.pass(10_000)
    }
    const said = stage.recording().flatMap(({ kind, o }) => {
      const { status } = o as { readonly status?: RolloutStatus }
      return kind === 'Rollout' ? [status?.conditions?.find(({ type }) => type === 'StrategyRestored')?.status ?? '-'] : []
    })
    expect(said.filter((one, at) => one !== said[at - 1])).toEqual(['-', 'True', '-', 'True'])
  },
)
