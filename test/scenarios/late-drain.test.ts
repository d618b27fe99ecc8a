import { afterEach, expect, it } from 'vitest'
import { byLabel, consumerNames, labelled, makeConsumer, readNode, setDrainStage } from './drain-stage.ts'
import { expectKept } from './expect-kept.ts'
import { nodesOn, untilReleased } from './looks.ts'
import type { Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

/** Node of which the first executor knows nothing later than its permit. */
const NODE = 'node-001'

it('an executor that was frozen before it drained a node evicts nothing there once another one has updated the node (G8, G9)', async () => {
  const annotations = {
    'sim.tranche.dev/jitter-ms': '0',
    'sim.tranche.dev/start-ms': '2000',
    // Others keep the settled permit of the node in the record.
    'sim.tranche.dev/slow-nodes': '^(node-002|node-003|node-004)$',
    'sim.tranche.dev/slow-ms': '120000',
  }
  stage = await setDrainStage(byLabel, { executors: ['executor-1', 'executor-2'], annotations })
  await makeConsumer(stage, 'web-1', NODE, {}, { labels: labelled })
  const late = stage.program('executor-1').process
  late.freezeBefore(({ method, path }) => method === 'GET' && path.includes(`/nodes/${NODE}`))
  await stage.setImage('v2')
  await stage.until('the node is updated and schedulable', isUpdated, 110_000)
  await makeConsumer(stage, 'web-2', NODE, {}, { labels: labelled })
  late.thaw()
  for (let second = 0; second < 10; second++) {
    await stage.pass(1_000)
    expect((await readNode(stage, NODE)).spec?.unschedulable).not.toBe(true)
  }
  expect(await consumerNames(stage)).toContain('web-2')
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('an executor whose reads of room were slow evicts nothing from a node that another one has updated (G8, G9)', async () => {
  const annotations = {
    'sim.tranche.dev/jitter-ms': '0',
    'sim.tranche.dev/start-ms': '2000',
    'sim.tranche.dev/slow-nodes': '^(node-002|node-003|node-004)$',
    'sim.tranche.dev/slow-ms': '120000',
  }
  const policy = { drain: byLabel, nodes: { room: 'Check' as const } }
  stage = await setDrainStage(undefined, { executors: ['executor-1', 'executor-2'], annotations, policy })
  // Its watches continue. The first read is for the permit, the second one for the deletion.
  const late = stage.program('executor-2').process
  let reads = 0
  late.freezeBefore(({ method, path }) => method === 'GET' && path.includes(`/nodes/${NODE}`) && ++reads === 2)
  await stage.setImage('v2')
  await stage.until('the node is updated and schedulable', isUpdated, 110_000)
  await makeConsumer(stage, 'web-2', NODE, {}, { labels: labelled })
  expect(late.held(), 'requests that wait').toBeGreaterThan(0)
  late.thaw()
  for (let second = 0; second < 10; second++) {
    await stage.pass(1_000)
    expect((await readNode(stage, NODE)).spec?.unschedulable).not.toBe(true)
    expect(await consumerNames(stage)).toContain('web-2')
  }
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

async function isUpdated(): Promise<boolean> {
  const { spec, metadata } = await readNode(stage, NODE)
  if (spec?.unschedulable === true || metadata.annotations?.['tranche.dev/cordon'] !== undefined) return false
  const isOn = (await nodesOn(stage, 'v2')).includes(NODE)
  const pods = (await stage.pods()).filter(({ spec: { nodeName } = {} }) => nodeName === NODE)
  return isOn && pods.some(({ status }) => status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true)
}
