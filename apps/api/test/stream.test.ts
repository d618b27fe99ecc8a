import type { RolloutSummary, StreamMessage } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromEventId, isBeyond, type Positions, toEventId } from '../src/stream/positions.ts'
import { createStreamHub, type StreamedEvent, type StreamHub, type StreamSource } from '../src/stream/stream-hub.ts'
import { createStreamReader, type StreamReader } from '../src/stream/stream-reader.ts'
import { aSummary } from './fixtures.ts'

/** A fake cluster with a log of changes; each replica has its own position in it. */
class World {
  version = 10
  readonly log: { readonly key: ObjectKey; readonly summary: RolloutSummary | undefined; readonly version: number }[] = []

  write(name: string, message: string | null): void {
    this.version += 1
    const key = { namespace: 'demo', name }
    this.log.push({ key, summary: message === null ? undefined : aSummary({ name, message }), version: this.version })
  }

  at(version: number): ReadonlyMap<string, RolloutSummary> {
    const state = new Map<string, RolloutSummary>()
    for (const { key, summary } of this.log.filter(({ version: written }) => written <= version)) {
      if (summary === undefined) state.delete(keyText(key))
      else state.set(keyText(key), summary)
    }
    return state
  }
}

class Replica {
  readonly clock = new FakeClock()
  readonly hub: StreamHub
  readonly #world: World
  readonly #events: readonly StreamedEvent[]
  #seen: number
  #changed: (key: ObjectKey | null) => void = () => {}

  constructor(world: World, events: readonly StreamedEvent[] = []) {
    this.#world = world
    this.#events = events
    this.#seen = world.version
    this.hub = createStreamHub({ source: this.#source(), clock: this.clock, log: silentLogger })
  }

  /** Processes and publishes the next `changes` of the world. */
  see(changes = Number.POSITIVE_INFINITY): void {
    for (const { key, version } of this.#world.log.filter(({ version: written }) => written > this.#seen).slice(0, changes)) {
      this.#seen = version
      this.#changed(key)
    }
    this.clock.advance(1_000)
  }

  #source(): StreamSource {
    const state = (): ReadonlyMap<string, RolloutSummary> => this.#world.at(this.#seen)
    return {
      keys: () => [...state().values()],
      summary: (key) => state().get(keyText(key)),
      positions: () => [String(this.#seen), '1'],
      whenReached: async () => {},
      events: () => this.#events,
      subscribe: (changed) => {
        this.#changed = changed
        return () => {}
      },
    }
  }
}

/** State of a client that reads a stream. */
class Listener {
  readonly known = new Map<string, RolloutSummary>()
  readonly texts: string[] = []
  lastId: string | undefined
  resets = 0
  closed: string | undefined
  takes = true

  connect(replica: Replica, mayRead: (key: ObjectKey) => boolean = () => true): StreamReader {
    return createStreamReader({
      hub: replica.hub,
      clock: replica.clock,
      known: this.lastId === undefined ? null : fromEventId(this.lastId, 2)!.positions,
      mayRead,
      digest: DIGEST,
      patienceMs: 10_000,
      sink: {
        write: (text) => {
          this.#read(text)
          return this.takes
        },
        close: (how) => void (this.closed = how),
      },
    })
  }

  #read(text: string): void {
    this.texts.push(text)
    for (const block of text.split('\n\n')) {
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (data !== undefined) this.#learn(JSON.parse(data) as StreamMessage)
      this.lastId = /^id: (.*)$/m.exec(block)?.[1] ?? this.lastId
    }
  }

  #learn(message: StreamMessage): void {
    if (message.type === 'reset') {
      this.resets += 1
      this.known.clear()
    }
    if (message.type === 'rollout') this.known.set(keyText(message.rollout), message.rollout)
    if (message.type === 'gone') this.known.delete(keyText(message))
  }
}

function streamedEvent(version: number): StreamedEvent {
  const event = { type: 'Normal', reason: 'Updated', message: String(version), at: '2026-01-01T00:00:00Z' }
  return { key: { namespace: 'demo', name: 'a' }, resourceVersion: String(version), event } as never
}

const DIGEST = '0123456789abcdef'
const OTHER_DIGEST = 'fedcba9876543210'

describe('a reader', () => {
  it('begins with a reset and every Rollout, then gets changes', () => {
    const world = new World()
    world.write('a', 'one')
    const replica = new Replica(world)
    const listener = new Listener()
    listener.connect(replica)
    expect([listener.resets, listener.known.get('demo/a')?.message]).toEqual([1, 'one'])
    world.write('a', 'two')
    world.write('b', 'new')
    replica.see()
    expect([...listener.known].map(([key, { message }]) => [key, message])).toEqual([
      ['demo/a', 'two'],
      ['demo/b', 'new'],
    ])
    world.write('a', null)
    replica.see()
    expect([...listener.known.keys()]).toEqual(['demo/b'])
    expect(listener.resets).toBe(1)
  })

  it('gets no message about an unchanged Rollout', () => {
    const world = new World()
    world.write('a', 'one')
    const replica = new Replica(world)
    const listener = new Listener()
    listener.connect(replica)
    const before = listener.texts.length
    world.write('a', 'one')
    replica.see()
    expect(listener.texts.length).toBe(before)
  })

  it('that resumes before a forgotten deletion gets a reset', () => {
    const world = new World()
    world.write('a', 'one')
    const listener = new Listener()
    listener.connect(new Replica(world)).close()
    world.write('a', null)
    const other = new Replica(world)
    listener.connect(other)
    expect([listener.resets, listener.known.size]).toEqual([2, 0])
  })

  it.each([
    { events: 1_000, is: 'every one', resets: 1 },
    { events: 1_001, is: 'a reset instead, because its position is only its own claim', resets: 2 },
  ])('that resumes before $events events gets $is', ({ events, resets }) => {
    const world = new World()
    world.write('a', 'one')
    const listener = new Listener()
    listener.connect(new Replica(world)).close()
    const happened = Array.from({ length: events }, (_, at) => streamedEvent(at + 2))
    listener.connect(new Replica(world, happened))
    expect(listener.resets).toBe(resets)
    expect(listener.texts.join('').split('"type":"event"').length - 1).toBe(resets === 1 ? events : 0)
  })

  it('that does not read at all is disconnected', () => {
    const world = new World()
    const replica = new Replica(world)
    const listener = new Listener()
    listener.takes = false
    const reader = listener.connect(replica)
    const before = listener.texts.length
    replica.clock.advance(9_999)
    expect(listener.closed).toBeUndefined()
    replica.clock.advance(1)
    expect(listener.closed).toBe('cut')
    world.write('a', 'one')
    replica.see()
    reader.drained()
    expect(listener.texts.length).toBe(before)
  })

  it('that reads slowly gets the latest state when it reads again, and nothing is queued for it', () => {
    const world = new World()
    world.write('a', '0')
    const replica = new Replica(world)
    const listener = new Listener()
    listener.takes = false
    const reader = listener.connect(replica)
    const before = listener.texts.length
    for (let change = 1; change <= 5; change++) {
      world.write('a', String(change))
      replica.see(1)
    }
    expect(listener.texts.length).toBe(before)
    listener.takes = true
    reader.drained()
    expect([listener.texts.length, listener.known.get('demo/a')?.message, listener.closed]).toEqual([before + 1, '5', undefined])
  })

  it('gets nothing that it may not see, and everything that becomes visible', () => {
    const world = new World()
    world.write('a', 'secret')
    const replica = new Replica(world)
    const listener = new Listener()
    let allowed = false
    const reader = listener.connect(replica, () => allowed)
    world.write('a', 'more')
    replica.see()
    expect(listener.texts.join('')).not.toMatch(/secret|more/)
    allowed = true
    reader.push(replica.hub.snapshot().messages, OTHER_DIGEST)
    expect(listener.known.get('demo/a')?.message).toBe('more')
  })

  it('does not get pending messages that it may no longer see', () => {
    const world = new World()
    // A message longer than one slice is written alone; the others stay pending.
    world.write('a', 'x'.repeat(200_000))
    world.write('secret', 'confidential')
    world.write('b', 'public')
    const replica = new Replica(world)
    const listener = new Listener()
    let isAllowed = true
    listener.takes = false
    const reader = listener.connect(replica, ({ name }) => name !== 'secret' || isAllowed)
    isAllowed = false
    reader.push([{ key: null, line: 'data: {"type":"gone","namespace":"demo","name":"secret"}' }], OTHER_DIGEST)
    listener.takes = true
    reader.drained()
    expect(listener.texts.join('')).not.toContain('confidential')
    expect([...listener.known.keys()]).toEqual(['demo/a', 'demo/b'])
    expect(listener.lastId).toBe(`${OTHER_DIGEST}.13.1`)
  })

  it('gets heartbeats with the current id', () => {
    const replica = new Replica(new World())
    const listener = new Listener()
    listener.connect(replica).heartbeat()
    expect(listener.texts.at(-1)).toBe(`: alive\nid: ${DIGEST}.10.1\n\n`)
  })
})

it('a reader that has missed nothing gets a confirmation at once, in a few bytes', () => {
  const world = new World()
  for (let at = 0; at < 100; at++) world.write(`a${at}`, 'one')
  const replica = new Replica(world)
  const listener = new Listener()
  listener.connect(replica).close()
  const id = listener.lastId
  listener.texts.length = 0
  listener.connect(replica)
  expect(listener.texts).toEqual([`: alive\nid: ${id}\n\n`])
  expect([listener.resets, listener.known.size]).toEqual([1, 100])
})

it('a reader knows the state of the cluster, for any replicas, any lag and any broken connection', () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('write' as const),
      name: fc.constantFrom('a', 'b', 'c'),
      message: fc.option(fc.constantFrom('x', 'y', 'z')),
    }),
    fc.record({ kind: fc.constant('see' as const), replica: fc.nat(1), changes: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ kind: fc.constant('connect' as const), replica: fc.nat(1) }),
    fc.record({ kind: fc.constant('restart' as const), replica: fc.nat(1) }),
    fc.constant({ kind: 'stop' as const }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const world = new World()
      const replicas = [new Replica(world), new Replica(world)]
      const listener = new Listener()
      let reader: StreamReader | undefined
      for (const one of steps) {
        if (one.kind === 'write') world.write(one.name, one.message)
        if (one.kind === 'see') replicas[one.replica]!.see(one.changes)
        if (one.kind === 'stop' || one.kind === 'connect') reader?.close()
        if (one.kind === 'restart') replicas[one.replica] = new Replica(world)
        if (one.kind === 'connect') {
          // Like the route: a replica that lags behind catches up first.
          const known = listener.lastId === undefined ? null : fromEventId(listener.lastId, 2)
          if (known !== null && isBeyond(known.positions, replicas[one.replica]!.hub.positions)) replicas[one.replica]!.see()
          reader = listener.connect(replicas[one.replica]!)
        }
      }
      reader?.close()
      replicas[0]!.see()
      listener.connect(replicas[0]!)
      expect(Object.fromEntries(listener.known)).toEqual(Object.fromEntries(world.at(world.version)))
    }),
    { numRuns: 300 },
  )
})

describe('an id', () => {
  it.each<[string, Positions | null]>([
    [`${DIGEST}.1.20.0`, ['1', '20', '0']],
    [`${DIGEST}.1.20`, null],
    [`${DIGEST}.1.20.0.4`, null],
    [`${DIGEST}.1.02.0`, null],
    [`${DIGEST}.a.b.c`, null],
    [`${DIGEST.slice(1)}.1.20.0`, null],
    ['1.20.0', null],
    ['', null],
    [`${DIGEST}.1.2.${'9'.repeat(30)}`, null],
  ])('%s is read as %j', (id, want) => expect(fromEventId(id, 3)?.positions ?? null).toEqual(want))

  it('is parsed as it was written', () => {
    const id = toEventId({ digest: DIGEST, positions: ['7', '', '9'] })
    expect(fromEventId(id, 3)).toEqual({ digest: DIGEST, positions: ['7', '0', '9'] })
  })
})
