import type { DrainRules } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import type { Node } from '@tranche/kube-types'
import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { nodesOn, untilReleased } from './looks.ts'
import { drive, setStage, type Stage, type StageOptions } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

/** Namespace of the consumers. */
const TEAM = 'team-a'
const RESOURCE = 'example.com/gpu'
const DRIVER = 'disk.example.com'
const byLabel: DrainRules = { consumers: [{ selector: { matchLabels: { uses: 'agent' } } }] }
const labelled = { uses: 'agent' }

describe('an agent that other pods use', () => {
  it('is updated on each node only once the pods with its extended resource have left', async () => {
    await setDrainStage({ consumers: [{ extendedResource: RESOURCE }] })
    const resources = { limits: { [RESOURCE]: '1' } }
    for (const node of await drive(stage.clock, nodeNames()))
      await makeConsumer(`job-${node}`, node, { containers: [{ ...container, resources }] })
    await makeConsumer('other', 'node-001')
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    expect(await consumerNames()).toEqual(['other'])
    expectDrained('job-')
    await expectNoMarks()
    expectKept(stage)
  })

  it('is updated only once the pods with volumes of its CSI driver have left', async () => {
    await setDrainStage({ consumers: [{ csiDriver: DRIVER }] })
    for (const node of await drive(stage.clock, nodeNames())) {
      await makeVolume(`data-${node}`)
      await makeConsumer(`db-${node}`, node, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: `data-${node}` } }] })
      await makeConsumer(`inline-${node}`, node, { volumes: [{ name: 'v', csi: { driver: DRIVER } }] })
    }
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    expect(await consumerNames()).toEqual([])
    expectDrained('db-')
    expectDrained('inline-')
    await expectNoMarks()
    expectKept(stage)
  })

  it('does not become available while its node takes pods: the node is schedulable again after that', async () => {
    await setDrainStage(byLabel, { nodes: 1, maxUnavailable: 1 })
    await makeConsumer('web', 'node-001', {}, labelled)
    await stage.setImage('v2')
    await stage.until('the node is cordoned', async () => (await readNode('node-001')).spec?.unschedulable === true)
    await untilReleased(stage, 'v2')
    await expectNoMarks()
    const readyMs = stage.recording().findLast(({ kind, o }) => kind === 'Pod' && o['owner'] === stageKey.name && o['ready'] === true)?.t
    const nodeWrites = stage.recording().filter(({ kind }) => kind === 'Node')
    const cordoned = nodeWrites.findLastIndex(({ o }) => o['unschedulable'] === true)
    expect(nodeWrites[cordoned + 1]?.t).toBeGreaterThanOrEqual(readyMs ?? Number.POSITIVE_INFINITY)
    expectKept(stage)
  })
})

it('without the section drain, a release reads, evicts and cordons nothing', async () => {
  await setDrainStage(undefined)
  for (const node of await drive(stage.clock, nodeNames())) await makeConsumer(`web-${node}`, node, {}, labelled)
  await stage.setImage('v2')
  await untilReleased(stage, 'v2')
  expect(await consumerNames()).toHaveLength(4)
  expect(stage.recording().some(({ kind, actor }) => kind === 'Node' && actor === 'executor-1')).toBe(false)
})

it('a policy of a namespace that the installation does not trust keeps the pods of others, and the release says why', async () => {
  await setDrainStage(byLabel, { drainNamespaces: ['gpu-operator'] })
  await makeConsumer('web', 'node-001', {}, labelled)
  await stage.setImage('v2')
  await stage.until('it is reported', async () => (await waiting())?.reason === 'DrainNotAllowed')
  expect((await waiting())?.message).toContain('policies of namespace demo may not drain nodes: rbac.drain.namespaces of the chart does not list it')
  await stage.pass(30 * 60_000)
  expect(await consumerNames()).toEqual(['web'])
  expect(await nodesOn(stage, 'v2')).toEqual([])
})

async function setDrainStage(drain: DrainRules | undefined, options: StageOptions = {}): Promise<void> {
  const policy = drain === undefined ? {} : { drain }
  stage = await setStage({ nodes: 4, maxUnavailable: 2, steps: [{ replicas: '100%' }], policy, ...options })
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: TEAM } }
  await drive(stage.clock, stage.client.create(resourcePaths.namespaces, namespace))
}

const container = { name: 'main', image: 'registry.example/main:1' }

async function makeConsumer(name: string, nodeName: string, spec: object = {}, labels: object = {}): Promise<void> {
  const metadata = { namespace: TEAM, name, labels }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { nodeName, containers: [container], ...spec } }
  await drive(stage.clock, stage.client.create(resourcePaths.pods, pod))
  await stage.until(`${name} runs`, async () => {
    const { items } = await stage.client.list<{ metadata: { name: string }; status?: { phase?: string } }>(resourcePaths.pods, {
      namespace: TEAM,
    })
    return items.some((one) => one.metadata.name === name && one.status?.phase === 'Running')
  })
}

async function makeVolume(name: string): Promise<void> {
  const volume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `pv-${name}` },
    spec: { csi: { driver: DRIVER, volumeHandle: name } },
  }
  await drive(stage.clock, stage.client.create(resourcePaths.persistentVolumes, volume))
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { namespace: TEAM, name }, spec: { volumeName: `pv-${name}` } }
  await drive(stage.clock, stage.client.create(resourcePaths.persistentVolumeClaims, claim))
}

async function nodeNames(): Promise<readonly string[]> {
  return (await nodes()).map(({ metadata }) => metadata.name)
}

async function nodes(): Promise<readonly Node[]> {
  return (await stage.client.list<Node>(resourcePaths.nodes)).items
}

function readNode(name: string): Promise<Node> {
  return stage.client.get<Node>(resourcePaths.nodes, { namespace: '', name })
}

async function consumerNames(): Promise<readonly string[]> {
  const { items } = await drive(stage.clock, stage.client.list<Node>(resourcePaths.pods, { namespace: TEAM }))
  return items.map(({ metadata }) => metadata.name).toSorted()
}

async function waiting() {
  return (await stage.release())?.status?.waiting
}

/** No node has a mark, and only those are unschedulable that a user cordoned. */
async function expectNoMarks(cordonedByUser: readonly string[] = []): Promise<void> {
  const isFree = async (): Promise<boolean> =>
    (await nodes()).every(({ metadata }) => metadata.annotations?.['tranche.dev/cordon'] === undefined)
  await stage.until('no node has a mark', isFree, 90_000)
  expect(
    (await drive(stage.clock, nodes())).filter(({ spec }) => spec?.unschedulable === true).map(({ metadata }) => metadata.name),
  ).toEqual(cordonedByUser)
}

/** Every old pod on a node was deleted after the consumers of that name had left it. */
function expectDrained(prefix: string): void {
  const left = new Map<string, number>()
  for (const { kind, type, t, o, node = '' } of stage.recording())
    if (kind === 'Pod' && type === 'DELETED' && String(o['name']).startsWith(prefix)) left.set(node, t)
  expect(left.size).toBeGreaterThan(0)
  for (const { kind, actor, verb, t, o, node = '' } of stage.recording())
    if (kind === 'Pod' && verb === 'delete' && actor === 'executor-1' && o['owner'] === stageKey.name)
      expect(t, node).toBeGreaterThanOrEqual(left.get(node) ?? Number.POSITIVE_INFINITY)
}
