import type { ReleasePolicy } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import { describePolicy } from '@tranche/reports'
import { afterEach, describe, expect, it } from 'vitest'
import {
  byLabel,
  consumerNames,
  container,
  deleteBudget,
  DRIVER,
  expectDrained,
  expectNoMarks,
  labelled,
  makeBudget,
  makeConsumer,
  makeVolume,
  nodesOf,
  readNode,
  setCordon,
  setDrainStage,
  untilCordoned,
} from './drain-stage.ts'
import { expectKept } from './expect-kept.ts'
import { nodesOn, untilReleased } from './looks.ts'
import { drive, type Stage } from './stage.ts'
import { policyKey, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const RESOURCE = 'example.com/gpu'

describe('an agent that other pods use', () => {
  it('is updated on each node only once the pods with its extended resource have left', async () => {
    stage = await setDrainStage({ consumers: [{ extendedResource: RESOURCE }] })
    const resources = { limits: { [RESOURCE]: '1' } }
    for (const node of await nodeNames()) await makeConsumer(stage, `job-${node}`, node, { containers: [{ ...container, resources }] })
    await makeConsumer(stage, 'other', 'node-001')
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    expect(await consumerNames(stage)).toEqual(['other'])
    expectDrained(stage, 'job-')
    await expectNoMarks(stage)
    expectKept(stage)
  })

  it('is updated only once the pods with volumes of its CSI driver have left', async () => {
    stage = await setDrainStage({ consumers: [{ csiDriver: DRIVER }] })
    for (const node of await nodeNames()) {
      await makeVolume(stage, `data-${node}`)
      await makeConsumer(stage, `db-${node}`, node, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: `data-${node}` } }] })
      await makeConsumer(stage, `inline-${node}`, node, { volumes: [{ name: 'v', csi: { driver: DRIVER } }] })
    }
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    expect(await consumerNames(stage)).toEqual([])
    expectDrained(stage, 'db-')
    expectDrained(stage, 'inline-')
    await expectNoMarks(stage)
    expectKept(stage)
  })

  it('keeps its node unschedulable until the new pod is available', async () => {
    stage = await setDrainStage(byLabel, { nodes: 1, maxUnavailable: 1 })
    await makeConsumer(stage, 'web', 'node-001', {}, { labels: labelled })
    await stage.setImage('v2')
    await untilCordoned(stage, 'node-001')
    await untilReleased(stage, 'v2')
    await expectNoMarks(stage)
    const readyMs = stage.recording().findLast(({ kind, o }) => kind === 'Pod' && o['owner'] === stageKey.name && o['ready'] === true)?.t
    const nodeWrites = stage.recording().filter(({ kind }) => kind === 'Node')
    const cordoned = nodeWrites.findLastIndex(({ o }) => o['unschedulable'] === true)
    expect(nodeWrites[cordoned + 1]?.t).toBeGreaterThanOrEqual(readyMs ?? Number.POSITIVE_INFINITY)
    expectKept(stage)
  })
})

it('without the section drain, a release reads, evicts and cordons nothing', async () => {
  stage = await setDrainStage(undefined)
  for (const node of await nodeNames()) await makeConsumer(stage, `web-${node}`, node, {}, { labels: labelled })
  await stage.setImage('v2')
  await untilReleased(stage, 'v2')
  expect(await consumerNames(stage)).toHaveLength(4)
  expect(stage.recording().some(({ kind, actor }) => kind === 'Node' && actor === 'executor-1')).toBe(false)
})

it('a policy of a namespace that the installation does not trust keeps the pods of others, and the release says why', async () => {
  stage = await setDrainStage(byLabel, { drainNamespaces: ['gpu-operator'] })
  await makeConsumer(stage, 'web', 'node-001', {}, { labels: labelled })
  await stage.setImage('v2')
  await stage.until('it is reported', async () => (await waiting())?.reason === 'DrainNotAllowed')
  expect((await waiting())?.message).toContain(
    'policies of namespace demo may not drain nodes: rbac.drain.namespaces of the chart does not list it',
  )
  const policy = await stage.client.get<ReleasePolicy>(resourcePaths.releasePolicies, policyKey)
  const said = describePolicy(await stage.rollout(), policy)
  expect(said.state).toMatchObject({ valid: true, usable: false, message: expect.stringContaining('rbac.drain.namespaces') })
  expect(said.sections.find(({ section }) => section === 'drain')).toMatchObject({
    sentences: [],
    unusable: [{ reason: 'DrainNotAllowed' }],
  })
  const { status } = policy
  expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'Usable', status: 'False', reason: 'DrainNotAllowed' }))
  await stage.pass(30 * 60_000)
  expect(await consumerNames(stage)).toEqual(['web'])
  expect(await nodesOn(stage, 'v2')).toEqual([])
})

async function waiting() {
  return (await stage.release())?.status?.waiting
}

async function nodeNames(): Promise<readonly string[]> {
  return (await drive(stage.clock, nodesOf(stage))).map(({ metadata }) => metadata.name)
}

it('a node that a user makes schedulable in mid-drain stays schedulable when the pod of the agent changes', async () => {
  stage = await setDrainStage(byLabel)
  await makeConsumer(stage, 'web', 'node-001', {}, { labels: labelled })
  await makeBudget(stage)
  await stage.setImage('v2')
  await untilCordoned(stage, 'node-001')
  await setCordon(stage, 'node-001', false)
  await stage.pass(40_000)
  for (const scan of ['1', '2']) {
    const agent = (await stage.pods()).find(({ spec }) => spec?.nodeName === 'node-001')
    const body = { metadata: { annotations: { 'example.com/scan': scan } } }
    const key = { namespace: 'demo', name: agent?.metadata.name ?? '' }
    await drive(stage.clock, stage.client.patch(resourcePaths.pods, key, { type: 'merge', body }))
    for (let second = 0; second < 60; second++) {
      await stage.pass(1_000)
      expect((await readNode(stage, 'node-001')).spec?.unschedulable, `second ${second}`).not.toBe(true)
    }
  }
  await deleteBudget(stage)
  await untilReleased(stage, 'v2')
  await expectNoMarks(stage)
})
