import { resourcePaths } from '@tranche/kube-client'
import type { KubeObject, Pod } from '@tranche/kube-types'
import type { ReleasePolicy } from '@tranche/api-schema'
import { ApiStatusError } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { nodesOn, untilNodesOn, untilReleased } from './looks.ts'
import { drive, setStage, type Stage } from './stage.ts'
import { policyKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

/** Namespace of other pods. */
const BATCH = 'batch'

const CHECK = { nodes: { room: 'Check' } } as const

describe('a pod that waits for the room on a node', () => {
  it('takes the room of the agent for good, where the policy asks for no check', async () => {
    await releaseBesideBacklog({})
    await untilNodesOn(stage, 'v2', 5)
    await stage.pass(10 * 60_000)
    expect(await unboundAgents()).toHaveLength(1)
    expect((await read<Pod>('backlog')).spec?.nodeName).toBe('node-003')
  })

  it('takes no room with nodes.room: Check: the node keeps its agent, is named, and is updated once the pod is gone', async () => {
    await releaseBesideBacklog(CHECK)
    await untilNodesOn(stage, 'v2', 5)
    await stage.until('it is reported', async () => (await waiting())?.reason === 'NoRoom')
    expect(await waiting()).toMatchObject({ nodes: ['node-003'] })
    expect((await waiting())?.message).toContain(
      'node-003 (a pending pod of another namespace, of priority 0, would take the room of the new pod: cpu: 500m requested, 0 of 8 free)',
    )
    await stage.pass(30 * 60_000)
    expect(await nodesOn(stage, 'v1.1')).toEqual(['node-003'])
    expect(await unboundAgents()).toEqual([])
    await drive(stage.clock, stage.client.delete(resourcePaths.pods, { namespace: BATCH, name: 'backlog' }))
    await untilReleased(stage, 'v2', 15 * 60_000)
    expectKept(stage)
  })

  it('is found by every executor, and none starts the node (G8)', async () => {
    await releaseBesideBacklog(CHECK, ['executor-1', 'executor-2'])
    await untilNodesOn(stage, 'v2', 5)
    await stage.pass(15 * 60_000)
    expect(await nodesOn(stage, 'v1.1')).toEqual(['node-003'])
    expect((await stage.release())?.status?.flight?.permits.map(({ node }) => node)).not.toContain('node-003')
    expectKept(stage)
  })
})

describe('a template that requests more than before, with nodes.room: Check', () => {
  it('waits on nodes that have not that much, and continues by itself once they have', async () => {
    await setRoomStage(CHECK)
    await fill('filler', 'node-002', '2')
    await setRequest('7')
    await untilNodesOn(stage, 'v2', 5)
    await stage.until('it is reported', async () => (await waiting())?.reason === 'NoRoom')
    expect((await waiting())?.message).toContain('node-002 (no room for the new pod: cpu: 7 requested, 6 of 8 free)')
    expect(await nodesOn(stage, 'v1.1')).toEqual(['node-002'])
    await drive(stage.clock, stage.client.delete(resourcePaths.pods, { namespace: BATCH, name: 'filler' }))
    await untilReleased(stage, 'v2', 15 * 60_000)
    expectKept(stage)
  })

  it('holds at once where no node has that much, and takes no agent down', async () => {
    await setRoomStage(CHECK)
    await setRequest('9')
    await stage.until('it is reported', async () => (await waiting())?.reason === 'NoRoom')
    await stage.pass(60 * 60_000)
    expect(await nodesOn(stage, 'v1.1')).toHaveLength(6)
    await setRequest('1', 'v3')
    await untilReleased(stage, 'v3')
    expectKept(stage)
  })
})

it('an executor that may not read the pods of other namespaces takes no agent down, and the release says why', async () => {
  await setRoomStage(CHECK)
  const allow = stage.disturb({
    onRequest: ({ actor, verb, resource }) =>
      actor.startsWith('executor') && verb === 'list' && resource.resource === 'pods' ? { kind: 'error', error: forbidden } : undefined,
  })
  await stage.setImage('v2')
  await stage.until('it is reported', async () => (await waiting())?.reason === 'RoomNotAllowed')
  expect((await waiting())?.message).toContain('cannot read whether there is room')
  expect(await nodesOn(stage, 'v1.1')).toHaveLength(6)
  allow()
  await untilReleased(stage, 'v2', 15 * 60_000)
  expectKept(stage)
})

it('an installation that does not let policies check room says so in the policy and the release, and asks nothing', async () => {
  stage = await setStage({ nodes: 6, steps: [{ replicas: '100%' }], policy: CHECK, room: false })
  const reads: string[] = []
  stage.disturb({
    onRequest({ actor, verb, resource }) {
      if (actor.startsWith('executor') && verb === 'list' && resource.resource === 'pods') reads.push(verb)
      return undefined
    },
  })
  await stage.setImage('v2')
  await stage.until('it is reported', async () => (await waiting())?.reason === 'RoomNotAllowed')
  expect((await waiting())?.message).toContain('allow it with rbac.room: true in the chart')
  const policy = await drive(stage.clock, stage.client.get<ReleasePolicy>(resourcePaths.releasePolicies, policyKey))
  expect(policy.status?.unusable).toEqual(['RoomNotAllowed'])
  expect(await nodesOn(stage, 'v1')).toHaveLength(6)
  expect(reads).toEqual([])
  const body = { spec: { nodes: { room: 'Ignore' } } }
  await drive(stage.clock, stage.client.patch(resourcePaths.releasePolicies, policyKey, { type: 'merge', body }))
  await untilReleased(stage, 'v2', 15 * 60_000)
  expectKept(stage)
})

it('a node whose room cannot be read for a while keeps its agent, is named, and is updated once it can be read', async () => {
  await setRoomStage({ nodes: { room: 'Check', order: [{ by: 'Name' }] } })
  const last = (await nodesOn(stage, 'v1.1')).toSorted().at(-1) ?? ''
  const mend = stage.disturb({
    onRequest: ({ actor, verb, resource, name }) =>
      actor.startsWith('executor') && verb === 'get' && resource.resource === 'nodes' && name === last
        ? { kind: 'error', error: unavailable }
        : undefined,
  })
  await stage.setImage('v2')
  await stage.until('the others are updated', async () => (await nodesOn(stage, 'v1.1')).length === 1, 60 * 60_000)
  await stage.until('it is reported', async () => (await waiting())?.reason === 'RoomUnread')
  expect((await waiting())?.nodes).toEqual([last])
  expect(await nodesOn(stage, 'v1.1')).toEqual([last])
  mend()
  await untilReleased(stage, 'v2', 15 * 60_000)
  expectKept(stage)
})

it('a hold and its text follow each change of the policy within two seconds, however long it lasts', async () => {
  await setRoomStage(CHECK)
  await setRequest('9')
  await stage.until('it is reported', async () => (await waiting())?.reason === 'NoRoom')
  for (const [nodes, prePull, reason] of [
    [{ room: 'Ignore' }, {}, 'PrePullNotAllowed'],
    [{ room: 'Check' }, null, 'NoRoom'],
    [{ room: 'Ignore' }, {}, 'PrePullNotAllowed'],
  ] as const) {
    await stage.pass(20 * 60_000)
    const body = { spec: { nodes, prePull } }
    await drive(stage.clock, stage.client.patch(resourcePaths.releasePolicies, policyKey, { type: 'merge', body }))
    await stage.pass(2_000)
    expect((await waiting())?.reason).toBe(reason)
    expect((await stage.rollout()).status?.waitingFor?.reason).toBe(reason)
    await stage.pass(2_000)
    expect((await stage.rollout()).status?.waitingFor).toEqual(await waiting())
  }
  expectKept(stage)
})

it('two executors rest while slow pods start and a node has no room (G8)', async () => {
  const slow = { 'sim.tranche.dev/start-ms': '30000' }
  await setRoomStage(CHECK, ['executor-1', 'executor-2'], { nodes: 14, maxUnavailable: 1, annotations: slow })
  await fill('filler', 'node-003', '7')
  let writes = 0
  stage.disturb({
    onRequest: ({ actor, verb }) => {
      if (actor.startsWith('executor') && verb === 'patch') writes++
      return undefined
    },
  })
  await setRequest('2')
  await untilNodesOn(stage, 'v2', 13, 60 * 60_000)
  expect(writes).toBeLessThan(100)
})

const forbidden = new ApiStatusError(403, 'Forbidden', 'pods is forbidden')
const unavailable = new ApiStatusError(500, 'InternalError', 'etcd is gone')

/** Six nodes with 8 CPUs, of which the agent requests half of one. */
async function setRoomStage(policy: object, executors: readonly string[] = ['executor-1'], options: object = {}): Promise<void> {
  stage = await setStage({ nodes: 6, maxUnavailable: 2, steps: [{ replicas: '100%' }], policy, executors, ...options })
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: BATCH } }
  await drive(stage.clock, stage.client.create(resourcePaths.namespaces, namespace))
  await setRequest('500m', 'v1.1')
  await untilReleased(stage, 'v1.1')
}

/** A node is full, and a pod waits for it that is as important as the agent. */
async function releaseBesideBacklog(policy: object, executors?: readonly string[]): Promise<void> {
  await setRoomStage(policy, executors)
  await fill('filler', 'node-003', '7500m')
  await makePod('backlog', { nodeSelector: { 'kubernetes.io/hostname': 'node-003' }, containers: [requesting('500m')] })
  await stage.pass(10_000)
  expect((await read<Pod>('backlog')).spec?.nodeName).toBeUndefined()
  await stage.setImage('v2')
}

async function fill(name: string, nodeName: string, cpu: string): Promise<void> {
  await makePod(name, { nodeName, containers: [requesting(cpu)] })
}

async function makePod(name: string, spec: object): Promise<void> {
  await drive(
    stage.clock,
    stage.client.create(resourcePaths.pods, { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: BATCH, name }, spec }),
  )
}

function requesting(cpu: string): object {
  return { name: 'main', image: 'registry.example/main:1', resources: { requests: { cpu } } }
}

async function setRequest(cpu: string, tag = 'v2'): Promise<void> {
  const container = { name: 'agent', image: `registry.example/node-agent:${tag}`, resources: { requests: { cpu } } }
  await stage.patchDaemonSet({ spec: { template: { spec: { containers: [container] } } } })
}

async function read<T extends KubeObject>(name: string): Promise<T> {
  return drive(stage.clock, stage.client.get<T>(resourcePaths.pods, { namespace: BATCH, name }))
}

async function waiting() {
  return (await stage.release())?.status?.waiting
}

/** Agents without a node. */
async function unboundAgents(): Promise<readonly string[]> {
  return (await stage.pods())
    .filter(({ spec }) => spec?.nodeName === undefined || spec.nodeName === '')
    .map(({ metadata }) => metadata.name)
}
