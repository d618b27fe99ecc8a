import { afterEach, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { deletions, expectKept } from './expect-kept.ts'
import { nodesOn, runs, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { drive, setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]
const slow = { 'sim.tranche.dev/start-ms': '3000' }

it('leaked nodes are counted by name, also after a restart, and the batch is never exceeded (G3, G7)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 2, steps, annotations: slow })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 3)
  await drive(stage.clock, stage.simulator.nodes.addNode('new-1'))
  const victims = (await stage.pods()).filter((pod) => runs(pod, 'v1')).slice(-2)
  const evicted = victims.map(({ spec }) => spec?.nodeName ?? '')
  for (const { metadata } of victims) await stage.client.delete(resourcePaths.pods, metadata as never)
  await stage.until('three have leaked', async () => (await leaked())?.count === 3)
  expect((await leaked())?.nodes).toEqual(['new-1', ...evicted].toSorted())
  stage.program('controller-1').kill()
  stage.program('controller-1').process.cutOff()
  await stage.startController('controller-2')
  await untilPausedAt(stage, 1)
  expect((await leaked())?.count).toBe(3)
  expect((await stage.rollout()).status?.leaked).toEqual(await leaked())
  expect(await nodesOn(stage, 'v2')).toHaveLength(11)
  expect(deletions(stage)).toBe(8)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('nodes that leak in a pause are counted, and those that Tranche updates are not (G9)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 4, steps, annotations: slow })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  expect(await leaked()).toBeUndefined()
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  await stage.pass(1_000)
  await drive(stage.clock, stage.simulator.nodes.addNode('new-1'))
  await stage.until('it has leaked', async () => (await leaked())?.count === 1)
  await stage.patchRollout({ spec: { strategy: { paused: false } } })
  await stage.approve()
  await stage.until('all are on v2', async () => (await nodesOn(stage, 'v2')).length === 21)
  expect((await leaked())?.count).toBe(1)
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

async function leaked(): Promise<{ readonly count: number; readonly nodes: readonly string[] } | undefined> {
  return (await stage.release())?.status?.leaked
}
