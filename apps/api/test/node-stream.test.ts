import { type StreamMessage, streamMessageSchema } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import type { ObjectKey } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createNodeCursor } from '../src/stream/node-cursor.ts'
import { createNodeFeeds, type NodeFeeds } from '../src/stream/node-feeds.ts'
import { createStreamHub } from '../src/stream/stream-hub.ts'
import { createStreamReader, type StreamReader } from '../src/stream/stream-reader.ts'
import { aNode, FakeNodes, NodeClient } from './fake-nodes.ts'

const key = { namespace: 'demo', name: 'agent' }
const workload = { namespace: 'demo', name: 'daemon' }

describe('a client that applies the messages of a node stream', () => {
  it('has the nodes that GET nodes returns, after any sequence of changes', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (steps, mayGetWorkload) => {
        const stage = new Stage(mayGetWorkload)
        for (const act of steps) act(stage)
        stage.settle()
        expect(stage.client.list()).toEqual(stage.visible())
        expect(stage.client.isPartial).toBe(false)
      }),
      { numRuns: 500 },
    )
  })

  it.each<[string, (stage: Stage) => void, Partial<StreamMessage>[]]>([
    ['gets every node first', () => {}, [{ reset: true, nodes: [aNode('a'), aNode('b')], gone: [] }]],
    [
      'gets only nodes that have changed',
      (stage) => stage.source.set(aNode('b', { state: 'updating' })),
      [{ reset: true }, { reset: false, nodes: [aNode('b', { state: 'updating' })], gone: [] }],
    ],
    [
      'gets the names of nodes that are gone',
      (stage) => stage.source.remove('a'),
      [{ reset: true }, { reset: false, nodes: [], gone: ['a'] }],
    ],
    ['gets nothing for a change that shows nowhere', (stage) => stage.source.set(aNode('a')), [{ reset: true }]],
    [
      'gets an empty state when the Rollout is deleted, and its nodes when it is created again',
      (stage) => {
        stage.deleteRollout()
        stage.clock.advance(1_000)
        stage.source.set(aNode('c'))
      },
      [{ reset: true }, { reset: true, nodes: [], gone: [] }, { reset: false, nodes: [aNode('c')] }],
    ],
  ])('%s', (_name, change, messages) => {
    const stage = new Stage()
    change(stage)
    stage.clock.advance(1_000)
    expect(stage.messages).toMatchObject(messages.map((message) => ({ type: 'nodes', ...key, ...message })))
    expect(stage.messages).toHaveLength(messages.length)
  })

  it('gets many changes in one message a second', () => {
    const stage = new Stage()
    for (let ms = 0; ms < 3_000; ms += 10) {
      stage.source.set(aNode('a', { restarts: ms }))
      stage.clock.advance(10)
    }
    expect(stage.messages.length - 1).toBeLessThanOrEqual(3)
    expect(stage.messages.at(-1)).toMatchObject({ nodes: [{ restarts: expect.toSatisfy((ms: number) => ms >= 1_900) }] })
  })

  it('gets a change that only the clock makes', () => {
    const stage = new Stage()
    stage.source.changesAtMs = stage.clock.nowMs() + 5_000
    stage.source.set(aNode('a', { state: 'updating' }))
    stage.clock.advance(4_900)
    stage.source.nodes!.set('a', aNode('a', { state: 'updated' }))
    expect(stage.client.nodes.get('a')?.state).toBe('updating')
    stage.source.changesAtMs = Number.POSITIVE_INFINITY
    stage.clock.advance(200)
    expect(stage.client.nodes.get('a')?.state).toBe('updated')
  })

  it('gets a large state in parts, and none of its nodes twice', () => {
    const names = Array.from({ length: 2_000 }, (_, at) => `node-${String(at).padStart(4, '0')}`)
    const stage = new Stage(true, ...names)
    expect(stage.messages.length).toBeGreaterThan(1)
    expect(stage.messages.every((message) => JSON.stringify(message).length < 80_000)).toBe(true)
    expect(stage.messages.map((message) => message.type === 'nodes' && message.more === true)).toEqual(
      stage.messages.map((_, at) => at < stage.messages.length - 1),
    )
    expect(stage.messages.flatMap((message) => (message.type === 'nodes' ? message.nodes : [])).map(({ name }) => name)).toEqual(names)
  })

  it('gets a change of a node that it got before the change, while parts were still sent', () => {
    const names = Array.from({ length: 2_000 }, (_, at) => `node-${String(at).padStart(4, '0')}`)
    const stage = new Stage(true, ...names)
    stage.takes = 1
    stage.reconnect()
    stage.source.set(aNode('node-0000', { state: 'failing' }))
    stage.source.remove('node-0001')
    stage.clock.advance(1_000)
    stage.settle()
    expect(stage.client.nodes.get('node-0000')?.state).toBe('failing')
    expect(stage.client.list()).toEqual(stage.visible())
  })

  it('gets the whole state if more has changed than one message should have', () => {
    const names = Array.from({ length: 3_000 }, (_, at) => `node-${String(at).padStart(4, '0')}`)
    const stage = new Stage(true, ...names)
    stage.source.set(...names.map((name) => aNode(name, { state: 'failing', why: 'CrashLoopBackOff: container agent, exit code 1' })))
    stage.clock.advance(1_000)
    expect(stage.client.resets).toBe(2)
    expect(stage.client.list()).toEqual(stage.visible())
  })

  it('gets the whole state if it missed more removed nodes than the feed knows', () => {
    const names = Array.from({ length: 1_500 }, (_, at) => `node-${String(at).padStart(4, '0')}`)
    const stage = new Stage(true, ...names)
    stage.takes = 0
    stage.source.set(aNode('node-0000', { state: 'failing' }))
    stage.clock.advance(1_000)
    for (const name of names.slice(1, 1_291)) {
      stage.source.nodes!.delete(name)
      if (name.endsWith('0')) {
        stage.source.changed()
        stage.clock.advance(1_000)
      }
    }
    stage.settle()
    expect(stage.client.list()).toEqual(stage.visible())
  })
})

describe('nodes of a DaemonSet that is not bound to the Rollout', () => {
  it('are never sent to a reader that may not get the DaemonSet', () => {
    const stage = new Stage(false)
    stage.source.unbound = workload
    stage.source.set(aNode('secret'))
    stage.clock.advance(1_000)
    stage.source.set(aNode('secret', { state: 'failing' }))
    stage.clock.advance(1_000)
    expect(JSON.stringify(stage.messages)).not.toContain('secret')
    expect(stage.client.list()).toEqual([])
  })

  it('are sent to a reader that may get it', () => {
    const stage = new Stage(true)
    stage.source.unbound = workload
    stage.source.set(aNode('a', { state: 'failing' }))
    stage.clock.advance(1_000)
    expect(stage.client.nodes.get('a')?.state).toBe('failing')
  })

  it('appear once the reader may get it', () => {
    const stage = new Stage(false)
    stage.source.unbound = workload
    stage.source.changed()
    stage.clock.advance(1_000)
    expect(stage.client.list()).toEqual([])
    stage.mayGetWorkload = true
    stage.reader.push([], 'other-rights')
    expect(stage.client.list()).toEqual([aNode('a'), aNode('b')])
  })

  it('are not sent to a slow reader that has lost its right meanwhile', () => {
    const stage = new Stage(true, ...Array.from({ length: 2_000 }, (_, at) => `node-${at}`))
    stage.source.unbound = workload
    stage.takes = 1
    stage.reconnect()
    stage.mayGetWorkload = false
    const before = stage.messages.length
    stage.settle()
    expect(stage.messages.slice(before)).toEqual([{ type: 'nodes', ...key, reset: true, nodes: [], gone: [] }])
  })
})

describe('the computation of nodes', () => {
  it('is shared by all readers of a Rollout', () => {
    const source = new FakeNodes('a')
    const clock = new FakeClock()
    const feeds = createNodeFeeds({ source, clock, log: silentLogger })
    const clients = Array.from({ length: 20 }, () => attach(feeds))
    expect(source.reads).toBe(1)
    source.set(aNode('a', { state: 'failing' }))
    clock.advance(1_000)
    expect(source.reads).toBe(2)
    expect(clients.every((client) => client.nodes.get('a')?.state === 'failing')).toBe(true)
  })

  it('does not run while nothing changes', () => {
    const source = new FakeNodes('a')
    const clock = new FakeClock()
    attach(createNodeFeeds({ source, clock, log: silentLogger }))
    clock.advance(3_600_000)
    expect(source.reads).toBe(1)
  })

  it('ends with the last reader, and starts again with the next', () => {
    const source = new FakeNodes('a')
    const feeds = createNodeFeeds({ source, clock: new FakeClock(), log: silentLogger })
    const [one, other] = [feeds.open(key, () => {}), feeds.open(key, () => {})]
    one.close()
    one.close()
    expect(source.feeds).toBe(1)
    other.close()
    expect(source.feeds).toBe(0)
    expect(attach(feeds).list()).toEqual([aNode('a')])
  })

  /** A reader that is never blocked. */
  function attach(feeds: NodeFeeds): NodeClient {
    const client = new NodeClient()
    const pump = (): void => {
      for (let line = cursor.next(); line !== undefined; line = cursor.next()) client.apply(parsed(line))
    }
    const { feed } = feeds.open(key, () => pump())
    const cursor = createNodeCursor(feed, () => true)
    pump()
    return client
  }
})

/** One reader of one Rollout over a connection that may be blocked. */
class Stage {
  readonly clock = new FakeClock()
  readonly source: FakeNodes
  readonly feeds: NodeFeeds
  client = new NodeClient()
  readonly messages: StreamMessage[] = []
  mayGetWorkload: boolean
  /** Number of writes until the connection is blocked. */
  takes = Number.POSITIVE_INFINITY
  reader: StreamReader
  #close = (): void => {}
  #isBlocked = false

  constructor(mayGetWorkload = true, ...names: readonly string[]) {
    this.mayGetWorkload = mayGetWorkload
    this.source = new FakeNodes(...(names.length === 0 ? ['a', 'b'] : names))
    this.feeds = createNodeFeeds({ source: this.source, clock: this.clock, log: silentLogger })
    this.reader = this.#connect()
  }

  reconnect(): void {
    this.#close()
    this.#isBlocked = false
    this.client = new NodeClient()
    this.reader = this.#connect()
  }

  deleteRollout(): void {
    this.source.nodes = undefined
    this.source.unbound = undefined
    this.source.changed()
  }

  drain(): void {
    if (!this.#isBlocked) return
    this.#isBlocked = false
    this.reader.drained()
  }

  /** Lets the reader read everything, and the feed notice everything. */
  settle(): void {
    this.takes = Number.POSITIVE_INFINITY
    this.drain()
    this.reader.push([], 'rights')
    this.clock.advance(2_000)
  }

  /** Nodes as GET nodes returns them to this reader; none instead of a refusal. */
  visible(): readonly unknown[] {
    return this.source.unbound === undefined || this.mayGetWorkload ? this.source.list() : []
  }

  #connect(): StreamReader {
    const hub = createStreamHub({
      clock: this.clock,
      log: silentLogger,
      source: {
        keys: () => [],
        summary: () => undefined,
        positions: () => ['1'],
        whenReached: async () => {},
        events: () => [],
        subscribe: () => () => {},
      },
    })
    const holder: { reader?: StreamReader } = {}
    const open = this.feeds.open(key, () => holder.reader?.nodesChanged())
    const reader = createStreamReader({
      hub,
      clock: this.clock,
      known: ['1'],
      digest: '0'.repeat(16),
      patienceMs: Number.MAX_SAFE_INTEGER,
      mayRead: () => true,
      nodes: createNodeCursor(open.feed, (unbound?: ObjectKey) => unbound === undefined || this.mayGetWorkload),
      sink: { write: (text) => this.#write(text), close: () => {} },
    })
    holder.reader = reader
    this.#close = () => {
      reader.close()
      open.close()
    }
    return reader
  }

  #write(text: string): boolean {
    expect(this.#isBlocked).toBe(false)
    for (const message of [...text.matchAll(/^data: .*$/gm)].map(([line]) => parsed(line))) {
      this.messages.push(message)
      this.client.apply(message)
    }
    this.takes -= 1
    this.#isBlocked = this.takes <= 0
    return !this.#isBlocked
  }
}

function parsed(line: string): StreamMessage {
  return streamMessageSchema.parse(JSON.parse(line.slice('data: '.length)))
}

const names = ['a', 'b', 'c', 'd', 'e']

/** One thing that may happen. */
const step: fc.Arbitrary<(stage: Stage) => void> = fc.oneof(
  fc.tuple(fc.constantFrom(...names), fc.constantFrom('old', 'updating', 'updated', 'failing'), fc.nat(3)).map(
    ([name, state, restarts]) =>
      (stage: Stage) =>
        stage.source.set(aNode(name, { state: state as 'old', restarts })),
  ),
  fc.constantFrom(...names).map((name) => (stage: Stage) => stage.source.remove(name)),
  fc.constantFrom(10, 300, 1_000, 5_000).map((ms) => (stage: Stage) => stage.clock.advance(ms)),
  fc.constantFrom(0, 1, 2).map((takes) => (stage: Stage) => void (stage.takes = takes)),
  fc.constant((stage: Stage) => {
    stage.takes = 3
    stage.drain()
  }),
  fc.constant((stage: Stage) => stage.deleteRollout()),
  fc.boolean().map((isBound) => (stage: Stage) => {
    stage.source.unbound = isBound ? undefined : workload
    stage.source.changed()
  }),
  fc.boolean().map((may) => (stage: Stage) => {
    stage.mayGetWorkload = may
    stage.reader.push([], may ? 'a' : 'b')
  }),
  fc.constant((stage: Stage) => stage.reconnect()),
)
