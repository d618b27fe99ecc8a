import { NODE_EVENTS_MAX, type NodeEvents, nodeEventsSchema } from '@tranche/api-schema'
import { type Clock, systemClock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { createKubeClient, type KubeClient } from '@tranche/kube-client'
import { resources } from '@tranche/sim-api'
import { silentLogger } from '@tranche/telemetry'
import type { Exchange } from '@tranche/wire'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createObjectEventReads, type ReadObjectEvents } from '../src/cluster/object-events.ts'
import type { NodeObjects } from '../src/cluster/release-reads.ts'
import { type ApiStage, aSummary, readsOf, startTestApi } from './fixtures.ts'

const pod = { kind: 'Pod', namespace: 'demo', name: 'agent-x', uid: 'pod-uid' } as const
const node = { kind: 'Node', namespace: 'default', name: 'node-1', uid: 'node-uid' } as const

let stage: ApiStage
let objects: Readonly<Record<string, NodeObjects>>
let read: ReadObjectEvents
/** Paths of the lists that the API sent to the API server. */
let lists: string[]
let events: number

beforeEach(async () => {
  objects = { 'node-1': { pod, node } }
  lists = []
  events = 0
  const reads = { ...readsOf([aSummary()]), nodeObjects: (_key: unknown, name: string) => objects[name] }
  stage = await startTestApi(reads, { parts: { readObjectEvents: (object) => read(object) } })
  read = readsAs('tranche-api')
})
afterEach(() => stage.end())

describe('the events of a node', () => {
  it('are those of its pod and of the node itself, newest first', async () => {
    await write(about(pod), { reason: 'Pulled', lastTimestamp: '2026-03-01T10:00:00Z' })
    await write(about(node), { reason: 'NodeNotReady', type: 'Warning', lastTimestamp: '2026-03-01T10:02:00Z' })
    await write(about({ ...node, uid: node.name }), { reason: 'Rebooted', lastTimestamp: '2026-03-01T10:01:00Z' })
    expect((await eventsFor('admin')).items.map(({ reason, object }) => `${reason} ${object}`)).toEqual([
      'NodeNotReady Node/node-1',
      'Rebooted Node/node-1',
      'Pulled Pod/agent-x',
    ])
  })

  it('have the times, the count and the component', async () => {
    const source = { component: 'kubelet', host: 'node-1' }
    const times = { firstTimestamp: '2026-03-01T09:00:00Z', lastTimestamp: '2026-03-01T10:00:00Z' }
    await write(about(pod), { reason: 'BackOff', message: '<b>again</b> \u202etluaf', type: 'Warning', count: 7, source, ...times })
    expect((await eventsFor('admin')).items).toEqual([
      {
        at: '2026-03-01T10:00:00Z',
        firstAt: '2026-03-01T09:00:00Z',
        type: 'Warning',
        reason: 'BackOff',
        object: 'Pod/agent-x',
        message: '<b>again</b> \u202etluaf',
        count: 7,
        source: 'kubelet',
      },
    ])
  })

  it.each([
    ['another pod', about({ ...pod, name: 'agent-y', uid: 'other-uid' })],
    ['an earlier pod of the same name', about({ ...pod, uid: 'old-uid' })],
    ['a pod of the same name in another namespace', about({ ...pod, namespace: 'other', uid: 'other-uid' })],
    ['an object in another namespace that claims the uid of the pod', about({ ...pod, namespace: 'other' })],
    ['an object of another kind that claims the uid of the pod', about({ ...pod, kind: 'ConfigMap' })],
    ['another node', about({ ...node, name: 'node-2', uid: 'node-2' })],
    ['an earlier node of the same name', about({ ...node, uid: 'old-uid' })],
  ])('do not contain those of %s', async (_title, other) => {
    await write(other, { reason: 'Foreign' })
    await write(about(pod), { reason: 'Own' })
    expect((await eventsFor('admin')).items.map(({ reason }) => reason)).toEqual(['Own'])
  })

  it('are the newest fifty, each of bounded size, however many a tenant writes', async () => {
    for (let at = 0; at < NODE_EVENTS_MAX + 10; at++)
      await write(about(pod), {
        reason: `r${at}`,
        message: 'm'.repeat(2_000),
        lastTimestamp: `2026-03-01T10:${String(at).padStart(2, '0')}:00Z`,
      })
    const { items } = await eventsFor('admin')
    expect(items.map(({ reason }) => reason)).toEqual(
      Array.from({ length: NODE_EVENTS_MAX }, (_none, at) => `r${NODE_EVENTS_MAX + 9 - at}`),
    )
    expect(Math.max(...items.map(({ message }) => message.length))).toBe(1_024)
    // Those of the pod alone leave no place for more.
    expect(await read(pod)).toHaveLength(NODE_EVENTS_MAX)
  })

  it('are those of the node alone while it has no pod', async () => {
    objects = { 'node-1': { node, pod: undefined } }
    await write(about(pod), { reason: 'Pulled' })
    await write(about(node), { reason: 'NodeNotReady' })
    expect((await eventsFor('admin')).items.map(({ reason }) => reason)).toEqual(['NodeNotReady'])
  })

  it('are not found for a node on which the DaemonSet does not run', async () => {
    expect((await ask('admin', 'node-2')).json()).toMatchObject({ code: 'NODE_NOT_FOUND' })
  })

  it('are read once for many simultaneous requests, and again after two seconds', async () => {
    await Promise.all([eventsFor('admin'), eventsFor('admin'), eventsFor('admin')])
    expect(lists).toHaveLength(2)
    stage.clock.advance(1_999)
    await eventsFor('admin')
    expect(lists).toHaveLength(2)
    await write(about(pod), { reason: 'Later' })
    stage.clock.advance(2)
    expect((await eventsFor('admin')).items).toMatchObject([{ reason: 'Later' }])
    expect(lists).toHaveLength(4)
  })

  it('are an error, and never an empty list, while the API server does not answer', async () => {
    read = () => Promise.reject(new AppError('API_UNREACHABLE', 'the API server cannot be reached'))
    expect((await ask('admin', 'node-1')).json()).toMatchObject({ code: 'API_UNREACHABLE' })
  })
})

describe('the rights for the events of a node', () => {
  const inDemo = 'list events in namespace "demo"'
  const inDefault = 'list events in namespace "default"'

  beforeEach(async () => {
    await write(about(pod), { reason: 'Pulled' })
    await write(about(node), { reason: 'NodeNotReady' })
    await stage.grant('viewer', 'demo', { verbs: ['get'] })
  })

  it.each<[string, readonly string[], readonly string[], NodeEvents['omitted']]>([
    [
      'without a right to list events',
      [],
      [],
      [
        { of: 'pod', lacks: 'caller', permission: inDemo },
        { of: 'node', lacks: 'caller', permission: inDefault },
      ],
    ],
    ['with it in the namespace of the Rollout', ['demo'], ['Pulled'], [{ of: 'node', lacks: 'caller', permission: inDefault }]],
    ['with it in the namespace default', ['default'], ['NodeNotReady'], [{ of: 'pod', lacks: 'caller', permission: inDemo }]],
    ['with it in both', ['demo', 'default'], ['NodeNotReady', 'Pulled'], []],
  ])('of a caller %s', async (_title, namespaces, reasons, omitted) => {
    for (const namespace of namespaces) await stage.grant('viewer', namespace, { verbs: ['list'], resources: ['events'], apiGroups: [''] })
    const found = await eventsFor('viewer')
    expect(found.items.map(({ reason }) => reason).sort()).toEqual(reasons)
    expect(found.omitted).toEqual(omitted)
    expect(lists).toHaveLength(namespaces.length)
  })

  it('are not named for a pod that does not exist', async () => {
    objects = { 'node-1': { node, pod: undefined } }
    expect((await eventsFor('viewer')).omitted).toEqual([{ of: 'node', lacks: 'caller', permission: inDefault }])
  })

  it('of a caller without the right to get the Rollout are not enough', async () => {
    await stage.grant('outsider', undefined, { verbs: ['list'], resources: ['events'], apiGroups: [''] })
    expect((await ask('outsider', 'node-1')).json()).toMatchObject({ code: 'ACCESS_DENIED' })
    expect(lists).toEqual([])
  })

  it('of the API itself are named if they are missing', async () => {
    read = readsAs('approver')
    await stage.grant('approver', 'demo', { verbs: ['list'], resources: ['events'], apiGroups: [''] })
    const { items, omitted } = await eventsFor('admin')
    expect(items.map(({ reason }) => reason)).toEqual(['Pulled'])
    expect(omitted).toEqual([{ of: 'node', lacks: 'api', permission: inDefault }])
  })
})

function readsAs(user: string): ReadObjectEvents {
  const exchange: Exchange = (request, signal) => {
    lists.push(request.path)
    return stage.simulator.exchangeFor(user)(request, signal)
  }
  const client: KubeClient = createKubeClient({ exchange, clock: systemClock, userAgent: 'tranche-api/test', log: silentLogger })
  return createObjectEventReads(client, stage.clock as Clock)
}

interface About {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** Involved object of an event, which names no namespace for a node. */
function about({ kind, namespace, name, uid }: About): { readonly namespace: string; readonly involvedObject: object } {
  return { namespace, involvedObject: { kind, name, uid, ...(kind !== 'Node' && { namespace }) } }
}

async function write({ namespace, involvedObject }: ReturnType<typeof about>, fields: object): Promise<void> {
  const event = { metadata: { namespace, name: `event-${++events}` }, involvedObject, reason: '', message: '', type: 'Normal', ...fields }
  await stage.simulator.clientFor({ name: 'admin' }).create(resources.events, event as never)
}

function ask(user: string, name: string) {
  return stage.app.inject({ method: 'GET', url: `/api/v1/namespaces/demo/rollouts/agent/nodes/${name}/events`, headers: stage.as(user) })
}

async function eventsFor(user: string): Promise<NodeEvents> {
  return nodeEventsSchema.parse((await ask(user, 'node-1')).json())
}
