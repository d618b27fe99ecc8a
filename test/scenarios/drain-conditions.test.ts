import { ApiStatusError } from '@tranche/sim-api'
import { afterEach, expect, it } from 'vitest'
import {
  byLabel,
  consumerNames,
  deleteBudget,
  drainConditionOf,
  expectDrained,
  expectNoMarks,
  labelled,
  makeBudget,
  makeConsumer,
  nodesOf,
  readNode,
  setDrainStage,
  setOtherDrain,
  untilCordoned,
} from './drain-stage.ts'
import { expectKept } from './expect-kept.ts'
import { untilReleased } from './looks.ts'
import { drive, type Stage, type StageOptions } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const NODE = 'node-001'
const BOTH = ['executor-1', 'executor-2']

it('a node has the condition while it is drained, counts as in service, and has none afterwards', async () => {
  await begin({ held: true })
  await stage.setImage('v2')
  await untilCordoned(stage, NODE)
  await stage.pass(60_000)
  expect(drainConditionOf(await drive(stage.clock, readNode(stage, NODE)))).toMatchObject({
    ...{ status: 'True', reason: 'TrancheDrain', message: 'BatchRelease demo/node-agent drains the node' },
    lastTransitionTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
  })
  expect((await drive(stage.clock, stage.release()))?.status?.skippedNodes ?? []).toEqual([])
  await deleteBudget(stage)
  await untilReleased(stage, 'v2')
  await expectNoConditions()
})

it('the condition is set after the mark and removed before it', async () => {
  await begin()
  await stage.setImage('v2')
  await untilReleased(stage, 'v2')
  await expectNoConditions()
  const writes = stage.recording().filter(({ kind, node, actor }) => kind === 'Node' && node === NODE && actor === 'executor-1')
  expect(writes.map(({ o }) => [o['cordonMark'] !== undefined, o['drain'] !== undefined])).toEqual([
    [true, false],
    [true, true],
    [true, false],
    [false, false],
  ])
})

it.each(['True', 'False'] as const)('the condition of another program stays as it is: %s', async (status) => {
  await begin()
  await setOtherDrain(stage, NODE, status)
  await stage.setImage('v2')
  await stage.pass(10 * 60_000)
  await setOtherDrain(stage, NODE, 'False')
  await untilReleased(stage, 'v2')
  await expectNoConditions([NODE])
})

it('the condition that another program takes over in mid-drain stays', async () => {
  await begin({ held: true })
  await stage.setImage('v2')
  await untilCordoned(stage, NODE)
  await setOtherDrain(stage, NODE, 'True')
  await stage.pass(60_000)
  await deleteBudget(stage)
  await stage.pass(60_000)
  expect(drainConditionOf(await drive(stage.clock, readNode(stage, NODE)))).toMatchObject({ status: 'True', reason: 'NodeMaintenance' })
  await setOtherDrain(stage, NODE, 'False')
  await untilReleased(stage, 'v2')
  await expectNoConditions([NODE])
})

it.each([403, 503])('without a clear response to the status, a drain works as before: %i', async (code) => {
  await begin()
  const error = new ApiStatusError(code, 'Forbidden', 'nodes/status is forbidden')
  stage.disturb({
    onRequest: ({ actor, subresource, resource }) =>
      resource.resource === 'nodes' && subresource === 'status' && actor.startsWith('executor') ? { kind: 'error', error } : undefined,
  })
  await stage.setImage('v2')
  await untilReleased(stage, 'v2')
  await expectNoConditions()
  expect(stage.recording().some(({ kind, o }) => kind === 'Node' && o['drain'] !== undefined)).toBe(false)
})

it('a condition that could not be removed with its mark is removed later', async () => {
  await begin({ held: true })
  await stage.setImage('v2')
  await untilCordoned(stage, NODE)
  await stage.pass(5_000)
  const error = new ApiStatusError(500, 'InternalError', 'no status')
  const end = stage.disturb({
    onRequest: ({ actor, subresource, resource }) =>
      resource.resource === 'nodes' && subresource === 'status' && actor.startsWith('executor') ? { kind: 'error', error } : undefined,
  })
  await deleteBudget(stage)
  await untilReleased(stage, 'v2')
  await stage.pass(120_000)
  expect(drainConditionOf(await drive(stage.clock, readNode(stage, NODE)))).toMatchObject({ reason: 'TrancheDrain' })
  end()
  await stage.pass(60_000)
  await expectNoConditions()
})

it.each([1, 2, 3])('two executors leave no condition, seed %i', async (seed) => {
  await begin({ seed, executors: BOTH })
  await stage.setImage('v2')
  await untilReleased(stage, 'v2')
  await expectNoConditions()
})

it('without the permission of the installation, a drain writes no status', async () => {
  await begin({ drainConditions: false })
  await stage.setImage('v2')
  await untilReleased(stage, 'v2')
  expect(stage.recording().some(({ kind, o }) => kind === 'Node' && o['drain'] !== undefined)).toBe(false)
})

async function begin({ held = false, ...options }: StageOptions & { readonly held?: boolean } = {}): Promise<void> {
  stage = await setDrainStage(byLabel, { drainConditions: true, ...options })
  for (const node of [1, 2]) await makeConsumer(stage, `web-${node}`, `node-00${node}`, {}, { labels: labelled })
  if (held) await makeBudget(stage)
}

/** Expects that only these nodes have a condition, of another program, and that the drains were right. */
async function expectNoConditions(ofOther: readonly string[] = []): Promise<void> {
  await expectNoMarks(stage)
  const nodes = await drive(stage.clock, nodesOf(stage))
  const left = nodes.filter((node) => drainConditionOf(node) !== undefined)
  expect(left.map((node) => [node.metadata.name, drainConditionOf(node)?.reason])).toEqual(ofOther.map((name) => [name, 'NodeMaintenance']))
  expect(await consumerNames(stage)).toEqual([])
  expectDrained(stage, 'web')
  expectKept(stage)
}
