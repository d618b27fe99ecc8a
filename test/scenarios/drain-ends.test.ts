import { resourcePaths } from '@tranche/kube-client'
import { afterEach, describe, expect, it } from 'vitest'
import {
  byLabel,
  consumerNames,
  deleteBudget,
  drainConditionOf,
  expectNoMarks,
  labelled,
  makeBudget,
  makeConsumer,
  nodesOf,
  readNode,
  setDrainStage,
  untilCordoned,
} from './drain-stage.ts'
import { expectKept } from './expect-kept.ts'
import { addAgent } from './group-stage.ts'
import { untilNodesOn, untilReleased } from './looks.ts'
import { drive, type Stage } from './stage.ts'
import { policyKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const NODE = 'node-003'
const HOUR = 3_600_000

describe('a node on which the new pod fails after its drain', () => {
  it('is schedulable again once its failure is tolerated, also while the release is not over (G6)', async () => {
    await releaseThatFailsOn({ maxFailedNodes: 1 })
    await stage.until('the release is over', async () => (await stage.rollout()).status?.phase === 'Healthy', HOUR)
    await expectNoDrain()
    expectKept(stage)
  })

  it('is schedulable again although its failure has stopped the release', async () => {
    await releaseThatFailsOn({ maxFailedNodes: 0 })
    await stage.until('it has failed', async () => (await stage.rollout()).status?.failure?.stops === true, HOUR)
    await expectNoDrain()
    expectKept(stage)
  })

  it('is drained again for the way back, on which it stays cordoned until its pod is deleted', async () => {
    await releaseThatFailsOn({ maxFailedNodes: 0 })
    await stage.until('it has failed', async () => (await stage.rollout()).status?.failure?.stops === true, HOUR)
    await expectNoDrain()
    // The node still has the image of the old pod.
    await makeConsumer(
      stage,
      'web',
      NODE,
      { containers: [{ name: 'main', image: 'registry.example/node-agent:v1' }] },
      { labels: labelled },
    )
    await makeBudget(stage)
    await stage.setImage('v1')
    await untilCordoned(stage, NODE)
    await stage.pass(60_000)
    expect((await drive(stage.clock, readNode(stage, NODE))).spec?.unschedulable).toBe(true)
    await deleteBudget(stage)
    await untilNodesOn(stage, 'v1', 4)
    expect(await consumerNames(stage)).toEqual([])
    await expectNoDrain()
    expectKept(stage)
  })

  it('may be drained by another release', async () => {
    await releaseThatFailsOn({ maxFailedNodes: 1 })
    const shape = { nodes: 4, maxUnavailable: 4, steps: [{ replicas: '100%' }] }
    const second = await addAgent(stage, 'csi-driver', { ...shape, policy: { drain: byLabel } })
    await second.setImage('v1.1')
    await stage.until('the other agent is updated', async () => (await second.nodesOn('v1.1')).length === 4, HOUR)
    expectKept(stage)
  })
})

it('a node whose drain was given up is drained again when its rest ends, and no later', async () => {
  stage = await setDrainStage({ ...byLabel, timeout: '2m' })
  await makeConsumer(stage, 'web', NODE, {}, { labels: labelled })
  await makeBudget(stage)
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 3)
  await untilGivenUp()
  await expectNoMarks(stage)
  const isCordoned = async (): Promise<boolean> => (await readNode(stage, NODE)).spec?.unschedulable === true
  await stage.pass(100_000)
  expect(await drive(stage.clock, isCordoned())).toBe(false)
  await stage.until('it is drained again', isCordoned, 40_000)
  expectKept(stage)
})

it('a changed policy ends the rest of a node whose drain was given up', async () => {
  stage = await setDrainStage({ ...byLabel, timeout: '30m' })
  await makeConsumer(stage, 'web', NODE, {}, { labels: labelled })
  await makeBudget(stage)
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 3)
  await untilGivenUp()
  await stage.pass(60_000)
  const drain = { ...byLabel, timeout: '10s', onTimeout: 'Continue' }
  await drive(stage.clock, stage.client.patch(resourcePaths.releasePolicies, policyKey, { type: 'merge', body: { spec: { drain } } }))
  await untilReleased(stage, 'v2', 10 * 60_000)
  expectKept(stage)
})

it('a cordon that another client also applies in mid-drain stays', async () => {
  stage = await setDrainStage(byLabel)
  await makeConsumer(stage, 'web', NODE, {}, { labels: labelled })
  await makeBudget(stage)
  await stage.setImage('v2')
  await untilCordoned(stage, NODE)
  await drive(stage.clock, applyCordon(NODE))
  await deleteBudget(stage)
  await untilReleased(stage, 'v2')
  await expectNoMarks(stage, [NODE])
  expect((await drive(stage.clock, readNode(stage, NODE))).spec?.unschedulable).toBe(true)
})

it('an executor that was frozen before it reads the consumers evicts none after an acknowledged pause (G9)', async () => {
  stage = await setDrainStage(byLabel, { executors: ['executor-1', 'executor-2'] })
  await makeConsumer(stage, 'web', NODE, {}, { labels: labelled })
  const isReading = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
    method === 'GET' && path.includes('/pods?') && path.includes(NODE)
  const programs = ['executor-1', 'executor-2'].map((name) => stage.program(name).process)
  for (const process of programs) process.freezeBefore(isReading)
  await stage.setImage('v2')
  await stage.until('one is frozen', () => programs.some((process) => process.isFrozen()))
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  await stage.until('it is acknowledged', async () => (await stage.release())?.status?.flight?.state === 'stopped')
  await stage.startExecutor('executor-3')
  await expectNoMarks(stage)
  for (const process of programs) if (process.isFrozen()) process.thaw()
  await stage.pass(60_000)
  expect(await consumerNames(stage)).toEqual(['web'])
  await stage.patchRollout({ spec: { strategy: { paused: false } } })
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

/** Applies the field server-side, as a pipeline does. */
function applyCordon(name: string): Promise<unknown> {
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: { unschedulable: true } })
  const path = `/api/v1/nodes/${name}?fieldManager=gitops&force=true`
  const request = { method: 'PATCH', path, headers: { 'content-type': 'application/apply-patch+yaml' }, body } as const
  return stage.simulator.exchangeFor('gitops')(request, new AbortController().signal)
}

/** The new image cannot be pulled on one node, whose kubelet is well. */
async function releaseThatFailsOn({ maxFailedNodes }: { readonly maxFailedNodes: number }): Promise<void> {
  const policy = { drain: byLabel, failure: { maxFailedNodes, progressDeadlineSeconds: 60 } }
  stage = await setDrainStage(undefined, { nodes: 4, policy, drainConditions: true })
  const body = { metadata: { annotations: { 'sim.tranche.dev/no-registry': 'true' } } }
  await drive(stage.clock, stage.client.patch(resourcePaths.nodes, { namespace: '', name: NODE }, { type: 'merge', body }))
  await stage.setImage('v2')
  await stage.until('it fails there', async () => (await stage.release())?.status?.failure?.nodes?.includes(NODE) === true, HOUR)
}

/** Soon, no node is cordoned or has the condition of a drain. */
async function untilGivenUp(): Promise<void> {
  const isGivenUp = async (): Promise<boolean> =>
    (await stage.release())?.status?.flight?.blocked?.some(({ reason }) => reason === 'DrainBlocked') === true
  await stage.until('the drain is given up', isGivenUp, HOUR)
}

async function expectNoDrain(): Promise<void> {
  await expectNoMarks(stage)
  const nodes = await drive(stage.clock, nodesOf(stage))
  expect(nodes.filter((node) => drainConditionOf(node) !== undefined)).toEqual([])
}
