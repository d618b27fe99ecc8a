import { afterEach, describe, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { daemonSetAnnotations, rolloutAnnotations } from '@tranche/kube-types'
import { deletions, expectKept } from './expect-kept.ts'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { drive, setStage, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]
const typeNow = async (): Promise<string | undefined> => (await stage.daemonSet()).spec.updateStrategy?.type
const setType = (type: string): Promise<void> => stage.patchDaemonSet({ spec: { updateStrategy: { type } } })
const hasStrategyDrifted = async (): Promise<boolean> => (await condition(stage, 'Stalled'))?.reason === 'StrategyConflict'

describe('a client that sets RollingUpdate again in mid-release without admission', () => {
  it('is corrected at once, with an event; the second time the release stops until a retry (G11 StrategyConflict)', async () => {
    stage = await setStage({ nodes: 40, maxUnavailable: 1, steps })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 3)
    const sinceMs = stage.clock.monotonicMs()
    await setType('RollingUpdate')
    await stage.until('it is OnDelete again', async () => (await typeNow()) === 'OnDelete', 2_000)
    expect(stage.clock.monotonicMs() - sinceMs).toBeLessThan(1_000)
    expect(await driftEvents()).toEqual(['DaemonSet', 'Rollout'])
    await untilNodesOn(stage, 'v2', 6)
    expect((await stage.release())?.status?.strategyDrift).toMatchObject({ rounds: 1 })

    await setType('RollingUpdate')
    await stage.until('the drift is reported', hasStrategyDrifted)
    const deleted = deletions(stage)
    await stage.pass(3_000)
    expect(await typeNow()).toBe('RollingUpdate')
    expect(deletions(stage)).toBe(deleted)
    expect((await condition(stage, 'Stalled'))?.message).toContain('OnDelete')

    await setType('OnDelete')
    await stage.until('it continues', async () => !(await hasStrategyDrifted()))
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('is remembered by the next controller if the first is killed between two rounds (G7, G11 StrategyConflict)', async () => {
    stage = await setStage({ nodes: 40, maxUnavailable: 1, steps })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 3)
    await setType('RollingUpdate')
    await stage.until('it is OnDelete again', async () => (await typeNow()) === 'OnDelete')
    stage.program('controller-1').kill()
    stage.program('controller-1').process.cutOff()
    await setType('RollingUpdate')
    await stage.startController('controller-2')
    await stage.until('the drift is reported', hasStrategyDrifted)
    expect(await typeNow()).toBe('RollingUpdate')
    expectKept(stage)
  })
})

it('a retry sets OnDelete again and continues in steps, although the leader dies in between (G11 StrategyConflict, G7)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 1, steps })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 2)
  await setType('RollingUpdate')
  await stage.until('it is OnDelete again', async () => (await typeNow()) === 'OnDelete')
  await setType('RollingUpdate')
  await stage.until('the drift is reported', hasStrategyDrifted)
  stage.program('controller-1').kill()

  const action = JSON.stringify({ id: 'retry-1', type: 'retry', by: 'alice' })
  await stage.patchRollout({ metadata: { annotations: { [rolloutAnnotations.action]: action } } })
  await stage.startController('controller-2')
  await stage.until('it is OnDelete again', async () => (await typeNow()) === 'OnDelete')
  expect((await stage.rollout()).status?.lastAction).toMatchObject({ id: 'retry-1', result: 'Accepted' })
  await untilPausedAt(stage, 1)
  expect(await hasStrategyDrifted()).toBe(false)
  const { leaked } = (await stage.release())?.status ?? {}
  expect((await nodesOn(stage, 'v2')).length).toBeLessThanOrEqual(Math.max(10, 2 + (leaked?.count ?? 0)))
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('a release ends once no node is left to update, although the strategy drifted repeatedly while it waited for a dead node (G6, G11)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
  await stage.setImage('v2')
  const inFlight = async (): Promise<string | undefined> => (await stage.release())?.status?.flight?.permits?.[0]?.node
  await stage.until('a pod is deleted', async () => deletions(stage) > 0)
  const node = (await inFlight()) ?? ''
  await drive(stage.clock, stage.simulator.nodes.kill(node))
  await stage.until(
    'it is Healthy',
    async () => (await stage.rollout()).status?.phase === 'Healthy' && (await nodesOn(stage, 'v2')).length >= 8,
  )
  expect(await inFlight()).toBe(node)
  await setType('RollingUpdate')
  await stage.until('it is OnDelete again', async () => (await typeNow()) === 'OnDelete')
  await setType('RollingUpdate')
  await stage.until('the release stops correcting', async () => (await stage.release())?.status?.strategyDrift?.rounds === 2)

  await drive(stage.clock, stage.simulator.nodes.revive(node))
  await untilReleased(stage, 'v2')
  await stage.until('the BatchRelease is gone', async () => (await stage.release()) === undefined)
  await stage.until('it is OnDelete, as between releases', async () => (await typeNow()) === 'OnDelete')
  expect((await stage.daemonSet()).metadata.annotations).not.toHaveProperty([daemonSetAnnotations.controlInfo])
  expectKept(stage)
})

/** Kinds of the objects that have a StrategyConflict event. */
async function driftEvents(): Promise<readonly string[]> {
  interface ReadEvent {
    readonly metadata: never
    readonly reason: string
    readonly involvedObject: { readonly kind: string }
  }
  const { items } = await stage.client.list<ReadEvent>(resourcePaths.events, { namespace: stageKey.namespace })
  const kinds = items.filter(({ reason }) => reason === 'StrategyConflict').map(({ involvedObject }) => involvedObject.kind)
  return kinds.toSorted()
}
