import { resourcePaths } from '@tranche/kube-client'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { killNodes } from './kill-nodes.ts'
import { condition, nodesOn, untilNodesOn } from './looks.ts'
import { drive, setStage, type Stage } from './stage.ts'

let stage: Stage
let dead: readonly string[]

/** A release of v2 ends with two nodes left, which are dead, and on which no new pod can start. */
beforeEach(async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 2, steps: [{ replicas: 1, pause: { duration: 30 } }, { replicas: '100%' }] })
  dead = await killNodes(stage, 2)
  await stage.pass(60_000)
  await stage.setImage('v2')
  await stage.until('the release is over', async () => (await condition(stage, 'StrategyRestored'))?.reason === 'NodesLeft')
  for (const name of dead) await reachRegistry(name, false)
})
afterEach(() => stage.end())

it('a failure on a node that a release had left stops the update of the others, and the Rollout waits for a person (G9)', async () => {
  await drive(stage.clock, stage.simulator.nodes.revive(dead[0]!))
  await stage.until('the failure is reported', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed')
  const { status } = await stage.rollout()
  expect(status).toMatchObject({ phase: 'Healthy', failure: { nodes: [dead[0]], stops: true } })
  await drive(stage.clock, stage.simulator.nodes.revive(dead[1]!))
  await stage.pass(10 * 60_000)
  expect(await nodesOn(stage, 'v1')).toEqual([dead[1]])
  expectKept(stage)
})

it('a retry updates them all the same', async () => {
  await drive(stage.clock, stage.simulator.nodes.revive(dead[0]!))
  await stage.until('the failure is reported', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed')
  for (const name of dead) await reachRegistry(name, true)
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'on', type: 'retry' }) } } })
  await drive(stage.clock, stage.simulator.nodes.revive(dead[1]!))
  await untilNodesOn(stage, 'v2', 20)
  await stage.until('all is given back', async () => (await condition(stage, 'StrategyRestored'))?.status === 'True')
  expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'False' })
  expectKept(stage)
})

it('the template before is released after the failure like any other', async () => {
  await drive(stage.clock, stage.simulator.nodes.revive(dead[0]!))
  await stage.until('the failure is reported', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed')
  await stage.setImage('v1')
  await drive(stage.clock, stage.simulator.nodes.revive(dead[1]!))
  await untilNodesOn(stage, 'v1', 20)
  await stage.until('all is given back', async () => (await condition(stage, 'StrategyRestored'))?.status === 'True')
  expectKept(stage)
})

async function reachRegistry(name: string, reaches: boolean): Promise<void> {
  const body = { metadata: { annotations: { 'sim.tranche.dev/no-registry': reaches ? null : 'true' } } }
  await stage.client.patch(resourcePaths.nodes, { namespace: '', name }, { type: 'merge', body })
}
