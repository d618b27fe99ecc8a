import { connect, type AddressInfo, type Socket } from 'node:net'
import type { RolloutSummary, StreamMessage } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import { resources } from '@tranche/sim-api'
import { silentLogger } from '@tranche/telemetry'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createNodeFeeds } from '../src/stream/node-feeds.ts'
import { createStreamHub, type StreamSource } from '../src/stream/stream-hub.ts'
import { aNode, FakeNodes, NodeClient } from './fake-nodes.ts'
import { aSummary, type ApiStage, startTestApi, readsOf } from './fixtures.ts'

const clock = new FakeClock()
let cluster: ReturnType<typeof clusterOf>
let nodes: FakeNodes
let stage: ApiStage
let address: AddressInfo
let closed: PromiseWithResolvers<void>
let happened: string[]

beforeEach(async () => {
  cluster = clusterOf(aSummary(), aSummary({ namespace: 'other' }))
  closed = Promise.withResolvers()
  happened = []
  const hub = createStreamHub({ source: cluster.source, clock, log: silentLogger })
  nodes = new FakeNodes('node-1')
  const feeds = createNodeFeeds({ source: nodes, clock, log: silentLogger })
  stage = await startTestApi(
    { ...readsOf([]), unboundWorkload: () => nodes.unbound },
    {
      limits: { streams: 3, streamsOfCaller: 2 },
      parts: {
        clock,
        stream: () => ({ hub, source: cluster.source, feeds }),
        onStream(what) {
          happened.push(what)
          if (what === 'closed') closed.resolve()
        },
      },
    },
  )
  await stage.app.listen({ host: '127.0.0.1', port: 0 })
  address = stage.app.server.address() as AddressInfo
})
afterEach(() => stage.end())

it('reports a deletion to a resuming client, even if its namespace has no Rollout left', async () => {
  await stage.grant('viewer', 'demo', { verbs: ['list'] })
  const before = await open('viewer')
  await before.until(({ type }) => type === 'rollout')
  before.socket.destroy()
  cluster.write({ namespace: 'demo', name: 'agent' }, undefined)
  const after = await open('viewer', before.lastId())
  await after.until(({ type }) => type === 'gone')
  expect(after.messages).toEqual([{ type: 'gone', namespace: 'demo', name: 'agent' }])
})

it.each<{ title: string; id: () => Promise<string | undefined>; types: readonly string[] }>([
  {
    title: 'unchanged rights with the changes',
    id: () => idOf('viewer'),
    types: ['rollout'],
  },
  {
    title: 'more rights than before with a reset',
    async id() {
      const id = await idOf('viewer')
      await stage.grant('viewer', 'other', { verbs: ['list'] })
      stage.clock.advance(60_000)
      return id
    },
    types: ['reset', 'rollout', 'rollout'],
  },
  { title: 'the event id of a user with more rights with a reset', id: () => idOf('admin'), types: ['reset', 'rollout'] },
  { title: 'the event id of a smaller scope with a reset', id: () => idOf('viewer', '?namespace=demo'), types: ['reset', 'rollout'] },
])('begins for $title', async ({ id, types }) => {
  await stage.grant('viewer', 'demo', { verbs: ['list'] })
  const known = await id()
  cluster.write({ namespace: 'demo', name: 'agent' }, aSummary({ message: 'changed' }))
  const { until, messages } = await open('viewer', known)
  await until(() => messages.length >= types.length)
  expect(messages.map(({ type }) => type)).toEqual(types)
})

/** @returns the last event id of a closed stream */
async function idOf(user: string, query = ''): Promise<string | undefined> {
  const { socket, until, lastId } = await open(user, undefined, query)
  await until(() => lastId() !== undefined)
  socket.destroy()
  return lastId()
}

it('never exceeds its limit, even for simultaneous requests', async () => {
  const caughtUp = Promise.withResolvers<void>()
  cluster.caughtUp = caughtUp.promise
  const statuses: number[] = []
  const refused = Promise.withResolvers<void>()
  const all = ['admin', 'viewer', 'admin', 'approver', 'viewer', 'approver'].map(async (user) => {
    const { status } = await open(user, `${'0'.repeat(16)}.99.1`)
    if (statuses.push(status) === 3) refused.resolve()
  })
  await refused.promise
  caughtUp.resolve()
  await Promise.all(all)
  expect(statuses).toEqual([503, 503, 503, 200, 200, 200])
})

it('limits the streams per caller, and reuses freed slots', async () => {
  const [first] = [await open('admin'), await open('admin')]
  const refused = await open('admin')
  expect(refused.status).toBe(429)
  expect(refused.text()).toContain('retry-after: 1\r')
  expect(refused.text()).toContain('2 streams of user \\"admin\\" are open, which is the limit. Close some;')
  expect((await open('viewer')).status).toBe(200)
  first.socket.destroy()
  await closed.promise
  expect((await open('admin')).status).toBe(200)
})

it.each([
  ['another request', 'me'],
  ['another stream', 'stream'],
])('ends with its connection if %s waits behind it, which could never be answered', async (_name, next) => {
  const ended = pipeline('stream', next)
  await ended.closed
  const { socket, until, closed: disconnected } = pipeline('stream')
  await until('text/event-stream')
  socket.write(requestOf(next, stage.as('admin')))
  await disconnected
  await vi.waitFor(() => expect(happened.filter((what) => what === 'closed')).toHaveLength(happened.length / 2))
  expect([(await open('admin')).status, (await open('admin')).status]).toEqual([200, 200])
})

it('follows the answers to requests before it on its connection', async () => {
  // Then the token is known: of one that is not, only one request at a time is answered.
  await open('admin')
  const { text, until } = pipeline('me', 'me', 'stream')
  await until('text/event-stream')
  expect(text().match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 200'])
})

it('drops the connection of a client that has lost its rights and does not read', async () => {
  await stage.grant('viewer', 'demo', { verbs: ['list'] })
  const dropped = new Promise<void>((resolve) => stage.app.server.once('connection', (socket: Socket) => socket.once('close', resolve)))
  const slow = await open('viewer', undefined, '?namespace=demo')
  await slow.until(({ type }) => type === 'rollout')
  slow.socket.pause()
  // More data than all buffers on the connection can hold.
  cluster.write({ namespace: 'demo', name: 'agent' }, aSummary({ message: 'x'.repeat(20_000_000) }))
  stage.clock.advance(60_000)
  await stage.simulator.clientFor({ name: 'admin' }).delete(resources.roleBindings, 'grant-1', 'demo')
  clock.advance(9_000)
  await closed.promise
  clock.advance(10_000)
  await dropped
})

describe('a stream with the nodes of a Rollout', () => {
  const ofAgent = '?nodes=demo/agent'

  it.each([
    ['no rights', [], 403],
    ['the right to list Rollouts', ['list'], 403],
    ['the right to get Rollouts', ['get'], 200],
  ])('for a caller with %s is answered as the Rollout is', async (_name, verbs, status) => {
    if (verbs.length > 0) await stage.grant('viewer', 'demo', { verbs })
    const { status: found, text } = await open('viewer', undefined, ofAgent)
    expect(found).toBe(status)
    if (status === 403) expect(text()).toContain('may not get rollouts.rollouts.kruise.io \\"agent\\" in namespace \\"demo\\"')
  })

  it.each(['agent', 'demo/', '/agent', 'demo/a/b', 'demo/..', 'Demo/agent'])('is refused for the name %s', async (text) => {
    const refused = await open('admin', undefined, `?nodes=${encodeURIComponent(text)}`)
    expect(refused.status).toBe(400)
    expect(refused.text()).toContain('query.nodes')
  })

  it('has them beside the Rollouts that the caller may list, whatever the filter', async () => {
    const { until, messages } = await open('admin', undefined, `${ofAgent}&namespace=other`)
    await until(({ type }) => type === 'nodes')
    expect(messages).toMatchObject([
      { type: 'reset' },
      { type: 'rollout', rollout: { namespace: 'other' } },
      { type: 'nodes', namespace: 'demo', name: 'agent', reset: true, nodes: [{ name: 'node-1' }], gone: [] },
    ])
  })

  it('has all of them again for a client that resumes, beside the changes of Rollouts', async () => {
    const before = await open('admin', undefined, ofAgent)
    await before.until(({ type }) => type === 'nodes')
    before.socket.destroy()
    nodes.set(aNode('node-1', { state: 'failing' }), aNode('node-2'))
    cluster.write({ namespace: 'demo', name: 'agent' }, aSummary({ message: 'changed' }))
    const after = await open('admin', before.lastId(), ofAgent)
    await after.until(({ type }) => type === 'nodes')
    expect(after.messages).toMatchObject([
      { type: 'rollout', rollout: { message: 'changed' } },
      { type: 'nodes', reset: true, nodes: [{ name: 'node-1', state: 'failing' }, { name: 'node-2' }] },
    ])
  })

  it('resumes from the id of a stream with other nodes, or with none: only the nodes are sent again', async () => {
    const before = await open('admin')
    await before.until(() => before.lastId() !== undefined)
    before.socket.destroy()
    const { until, messages, lastId } = await open('admin', before.lastId(), ofAgent)
    await until(({ type }) => type === 'nodes')
    expect(messages.map(({ type }) => type)).toEqual(['nodes'])
    await until(() => lastId() !== undefined)
    expect(lastId()).toBe(before.lastId())
  })

  it('ends when the caller may not get the Rollout any more, and is then refused', async () => {
    await stage.grant('viewer', 'demo', { verbs: ['get'] })
    await stage.grant('viewer', 'other', { verbs: ['list'] })
    const { until, messages } = await open('viewer', undefined, ofAgent)
    await until(({ type }) => type === 'nodes')
    await loseGrant('grant-1', 'demo')
    nodes.nodes!.set('secret', aNode('secret'))
    clock.advance(10_000)
    await closed.promise
    nodes.changed()
    clock.advance(1_000)
    expect(JSON.stringify(messages)).not.toContain('secret')
    expect((await open('viewer', undefined, ofAgent)).status).toBe(403)
    expect(nodes.feeds).toBe(0)
  })

  it('has none of a DaemonSet that is not bound, until the caller may get it', async () => {
    await stage.grant('viewer', 'demo', { verbs: ['get'] })
    const { until, messages } = await open('viewer', undefined, ofAgent)
    await until(({ type }) => type === 'nodes')
    nodes.unbound = { namespace: 'demo', name: 'daemon' }
    nodes.set(aNode('secret'))
    clock.advance(1_000)
    await until((message) => message.type === 'nodes' && message.nodes.length === 0)
    expect(JSON.stringify(messages)).not.toContain('secret')
    await stage.grant('viewer', 'demo', { verbs: ['get'], apiGroups: ['apps'], resources: ['daemonsets'], resourceNames: ['daemon'] })
    stage.clock.advance(60_000)
    clock.advance(10_000)
    await until((message) => message.type === 'nodes' && message.nodes.some(({ name }) => name === 'secret'))
    const client = new NodeClient()
    for (const message of messages) client.apply(message)
    expect(client.list()).toEqual(nodes.list())
  })

  it('has none of another DaemonSet that the Rollout names later, although the caller may get the first', async () => {
    await stage.grant('viewer', 'demo', { verbs: ['get'] })
    await stage.grant('viewer', 'demo', { verbs: ['get'], apiGroups: ['apps'], resources: ['daemonsets'], resourceNames: ['daemon'] })
    nodes.unbound = { namespace: 'demo', name: 'daemon' }
    const { until, messages } = await open('viewer', undefined, ofAgent)
    await until((message) => message.type === 'nodes' && message.nodes.length === 1)
    nodes.unbound = { namespace: 'demo', name: 'other' }
    nodes.set(aNode('secret'))
    clock.advance(1_000)
    await until((message) => message.type === 'nodes' && message.nodes.length === 0)
    expect(JSON.stringify(messages)).not.toContain('secret')
  })

  it('shares the computation of nodes with other streams on the same Rollout', async () => {
    const streams = [await open('admin', undefined, ofAgent), await open('admin', undefined, ofAgent)]
    nodes.set(aNode('node-1', { state: 'failing' }))
    clock.advance(1_000)
    for (const { until } of streams) await until((message) => message.type === 'nodes' && !message.reset)
    expect(nodes.reads).toBe(2)
  })

  async function loseGrant(name: string, namespace: string): Promise<void> {
    stage.clock.advance(60_000)
    await stage.simulator.clientFor({ name: 'admin' }).delete(resources.roleBindings, name, namespace)
  }
})

/** A stream over a raw socket, which can be left unread. */
async function open(user: string, lastId?: string, query = ''): Promise<Opened> {
  const socket = connect(address.port, address.address)
  const headers = { ...stage.as(user), ...(lastId !== undefined && { 'last-event-id': lastId }) }
  socket.write(requestOf(`stream${query}`, headers))
  let text = ''
  const messages: StreamMessage[] = []
  const changed = new EventTarget()
  socket.on('data', (chunk) => {
    text += chunk.toString()
    messages.splice(0, Infinity, ...[...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as StreamMessage))
    changed.dispatchEvent(new Event('data'))
  })
  const seen = (is: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => void (is() && resolve())
      changed.addEventListener('data', look)
      look()
    })
  await seen(() => text.includes('\r\n\r\n'))
  return {
    socket,
    messages,
    status: Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1]),
    text: () => text,
    lastId: () => [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1],
    until: (is) => seen(() => messages.some(is)),
  }
}

/** A connection on which requests of the admin are sent without waiting for answers. */
function pipeline(...paths: readonly string[]): Pipeline {
  const socket = connect(address.port, address.address)
  let text = ''
  socket.on('data', (chunk) => void (text += chunk.toString()))
  socket.on('error', () => {})
  socket.write(paths.map((path) => requestOf(path, stage.as('admin'))).join(''))
  return {
    socket,
    text: () => text,
    until: (part) => vi.waitFor(() => expect(text).toContain(part), { timeout: 5_000 }),
    closed: new Promise((resolve) => socket.once('close', () => resolve())),
  }
}

interface Pipeline {
  readonly socket: Socket
  readonly closed: Promise<void>
  text(): string
  until(part: string): Promise<void>
}

function requestOf(path: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ host: 'tranche', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET /api/v1/${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

interface Opened {
  readonly socket: Socket
  readonly messages: readonly StreamMessage[]
  readonly status: number
  text(): string
  lastId(): string | undefined
  until(is: (message: StreamMessage) => boolean): Promise<void>
}

/** Fake Rollouts with a single watch. */
function clusterOf(...summaries: readonly RolloutSummary[]): {
  readonly source: StreamSource
  /** Resolves when this replica has caught up with others. */
  caughtUp: Promise<void>
  write(key: ObjectKey, summary: RolloutSummary | undefined): void
} {
  const state = new Map(summaries.map((summary) => [keyText(summary), summary]))
  let version = 10
  let changed: (key: ObjectKey) => void = () => {}
  const cluster = {
    caughtUp: Promise.resolve(),
    source: {
      keys: () => [...state.values()],
      summary: (key: ObjectKey) => state.get(keyText(key)),
      positions: () => [String(version), '1'],
      whenReached: () => cluster.caughtUp,
      events: () => [],
      subscribe: (onChange: (key: ObjectKey) => void) => {
        changed = onChange
        return () => {}
      },
    },
    write(key: ObjectKey, summary: RolloutSummary | undefined): void {
      version += 1
      if (summary === undefined) state.delete(keyText(key))
      else state.set(keyText(key), summary)
      changed(key)
      clock.advance(1_000)
    },
  }
  return cluster
}
