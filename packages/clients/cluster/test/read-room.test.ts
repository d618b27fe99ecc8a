import { sleep } from '@tranche/clock'
import { createRoomReader, type RoomReader } from '@tranche/cluster'
import { type KubeClient, KubeStatusError, resourcePaths } from '@tranche/kube-client'
import type { DaemonSet, KubeObject, Pod } from '@tranche/kube-types'
import { ApiStatusError, type FaultInjector } from '@tranche/sim-api'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type SimStage, startSimStage } from './sim-stage.ts'

const signal = new AbortController().signal
let stage: SimStage
let client: KubeClient
let rooms: RoomReader
let asked: string[]
let fault: FaultInjector['onRequest']

beforeEach(async () => {
  fault = undefined
  asked = []
  stage = await startSimStage((call) => {
    if (call.actor === 'reader') asked.push(`${call.verb} ${call.resource.resource}`)
    return fault?.(call)
  })
  client = stage.clientOf('admin')
  rooms = createRoomReader(stage.clientOf('reader'), stage.clock)
  for (const name of ['demo', 'batch']) await create(resourcePaths.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  for (const [name, value] of [
    ['low', -10],
    ['high', 1_000],
  ] as const)
    await create(resourcePaths.priorityClasses, {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name },
      value,
      preemptionPolicy: 'Never',
    })
  asked = []
})

afterEach(() => stage.stop())

describe('the room on a node of 8 CPUs', () => {
  it('is enough where nothing else runs', async () => {
    expect(await read('node-001', newAgent('8'))).toBeNull()
  })

  it('is what pods of any namespace leave', async () => {
    await makePod('filler', { nodeName: 'node-001', ...asking('6') })
    expect(await read('node-001', newAgent('3'))).toBe('no room for the new pod: cpu: 3 requested, 2 of 8 free')
    expect(await read('node-002', newAgent('3'))).toBeNull()
  })

  it('is less what a pending pod would take first', async () => {
    const agent = await runAgent('2')
    await makePod('filler', { nodeName: 'node-001', ...asking('4500m') })
    await makeBacklog('3', { priorityClassName: 'high' })
    const text =
      'a pending pod of another namespace, of priority 1000, would take the room of the new pod: cpu: 2 requested, 500m of 8 free'
    expect(await read('node-001', agent('2'))).toBe(text)
    expect(await read('node-001', agent('500m'))).toBeNull()
    expect(await read('node-002', agent('2'))).toBeNull()
  })

  it('is for the pod of the priority that the class in the template gives', async () => {
    const agent = await runAgent('1')
    await makePod('filler', { nodeName: 'node-001', ...asking('6') })
    await makeBacklog('2', {})
    const backlogTakes = /^a pending pod of another namespace, of priority 0, would take/
    expect(await read('node-001', agent('1', 'low'))).toMatch(backlogTakes)
    expect(await read('node-001', agent('1'))).toMatch(backlogTakes)
    expect(await read('node-001', agent('1', 'high'))).toBeNull()
    expect(await read('node-001', agent('1', 'system-node-critical'))).toBeNull()
  })
})

it('reading the room takes two requests for each node, and two more in ten seconds', async () => {
  for (const node of ['node-001', 'node-002', 'node-001']) await read(node, newAgent('1'))
  expect(asked.toSorted()).toEqual([...Array<string>(3).fill('get nodes'), ...Array<string>(4).fill('list pods'), 'list priorityclasses'])
  await drive(sleep(stage.clock, 10_000))
  asked = []
  await read('node-001', newAgent('1'))
  expect(asked.toSorted()).toEqual(['get nodes', 'list pods', 'list pods', 'list priorityclasses'])
})

it('reading the room fails with what the API server says, and tries again the next time', async () => {
  fault = ({ actor, verb }) =>
    actor === 'reader' && verb === 'list' ? { kind: 'error', error: new ApiStatusError(403, 'Forbidden', 'pods is forbidden') } : undefined
  await expect(read('node-001', newAgent('1'))).rejects.toThrow(KubeStatusError)
  fault = undefined
  expect(await read('node-001', newAgent('1'))).toBeNull()
})

function read(node: string, daemonSet: DaemonSet): Promise<string | null> {
  return drive(rooms.read(daemonSet, node, signal))
}

/** A DaemonSet that does not run yet. */
function newAgent(cpu: string): DaemonSet {
  return {
    metadata: { namespace: 'demo', name: 'agent', uid: 'agent-uid' },
    spec: { template: { spec: asking(cpu) } },
  } as unknown as DaemonSet
}

/** Runs a DaemonSet on every node. @returns the same with another template */
async function runAgent(cpu: string): Promise<(cpu: string, priorityClassName?: string) => DaemonSet> {
  const labels = { app: 'agent' }
  const template = { metadata: { labels }, spec: asking(cpu) }
  const running = await create<DaemonSet>(resourcePaths.daemonSets, {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace: 'demo', name: 'agent' },
    spec: { selector: { matchLabels: labels }, template },
  })
  await drive(sleep(stage.clock, 5_000))
  return (request, priorityClassName) => {
    const spec = { ...asking(request), ...(priorityClassName !== undefined && { priorityClassName }) }
    return { ...running, spec: { ...running.spec, template: { spec } } } as unknown as DaemonSet
  }
}

function asking(cpu: string): object {
  return { containers: [{ name: 'main', image: 'registry.example/main:1', resources: { requests: { cpu } } }] }
}

/** Waits for node-001, and preempts no other pod. */
async function makeBacklog(cpu: string, fields: object): Promise<void> {
  const where = { nodeSelector: { 'kubernetes.io/hostname': 'node-001' } }
  const { metadata } = await makePod('backlog', { ...where, ...fields, ...asking(cpu) })
  await drive(sleep(stage.clock, 1_000))
  const pod = await drive(client.get<Pod>(resourcePaths.pods, { namespace: 'batch', name: metadata.name }))
  expect(pod.spec?.nodeName).toBeUndefined()
}

async function makePod(name: string, spec: object): Promise<Pod> {
  return create<Pod>(resourcePaths.pods, { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'batch', name }, spec })
}

function create<T extends KubeObject>(resource: Parameters<KubeClient['create']>[0], object: object): Promise<T> {
  return drive(client.create(resource, object as never)) as Promise<T>
}

function drive<T>(promise: Promise<T>): Promise<T> {
  return stage.drive(promise)
}
