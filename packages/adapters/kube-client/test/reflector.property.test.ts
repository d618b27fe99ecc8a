import { FakeClock } from '@tranche/clock'
import { createKubeClient, createReflector, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FakeApiServer, type Thing } from './fake-api-server.ts'

/** Longer than the idle timeout, the longest back-off and a bookmark interval together. */
const LONG_ENOUGH_MS = 150_000 + 4 * 30_000 + 60_000 + 20_000

type Step = (server: FakeApiServer, clock: FakeClock) => void | Promise<void>

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e')
/** Values from 8 on are not kept. */
const value = fc.nat(10)

const change: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(name, value).map(
    ([n, v]): Step =>
      (server) =>
        server.put(n, v),
  ),
  name.map(
    (n): Step =>
      (server) =>
        server.remove(n),
  ),
  fc.tuple(name, value).map(
    ([n, v]): Step =>
      (server) => {
        server.remove(n)
        server.put(n, v)
      },
  ),
)

const fault: fc.Arbitrary<Step> = fc.oneof(
  fc.constant<Step>((server) => server.resetWatches()),
  fc.constant<Step>((server) => server.endWatches()),
  fc.constant<Step>((server) => server.cutWatches()),
  fc.constant<Step>((server) => server.stallWatches()),
  fc.constant<Step>((server) => server.compact()),
  fc.constantFrom(410, 500, 504).map(
    (code): Step =>
      (server) =>
        server.sendError(code),
  ),
  fc.tuple(fc.constantFrom(410, 429, 500, 503), fc.integer({ min: 1, max: 6 })).map(
    ([code, times]): Step =>
      (server) => {
        for (let i = 0; i < times; i++) server.faults.push({ kind: 'status', code })
      },
  ),
  fc.constantFrom('reset', 'hang').map(
    (kind): Step =>
      (server) =>
        void server.faults.push({ kind }),
  ),
)

/** Changes without visible events: the connections break, and the history is gone when they return. */
const gap: fc.Arbitrary<Step> = fc.array(change, { minLength: 1, maxLength: 4 }).map(
  (changes): Step =>
    (server, clock) => {
      for (const one of changes) void one(server, clock)
      server.compact()
      server.resetWatches()
    },
)

const pause: fc.Arbitrary<Step> = fc.oneof(fc.nat(30), fc.nat(2_000), fc.nat(200_000)).map(
  (ms): Step =>
    (_server, clock) =>
      clock.advanceAsync(ms),
)

const story = fc.record({
  steps: fc.array(
    fc.oneof(
      { weight: 4, arbitrary: change },
      { weight: 2, arbitrary: fault },
      { weight: 1, arbitrary: gap },
      { weight: 3, arbitrary: pause },
    ),
    { maxLength: 40, size: 'max' },
  ),
  delaysMs: fc.array(fc.nat(50), { minLength: 1, maxLength: 5 }),
  pieceLength: fc.constantFrom(7, 60, 100_000),
  seed: fc.integer(),
})

it('equals the server after any changes, resets, ends, cuts, silences, 410s and 5xx, and its handlers saw every step of the way', async () => {
  await fc.assert(
    fc.asyncProperty(story, async ({ steps, delaysMs, pieceLength, seed }) => {
      const clock = new FakeClock()
      const server = new FakeApiServer(clock)
      let turn = 0
      server.delayMs = () => delaysMs[turn++ % delaysMs.length]!
      server.pieceLength = pieceLength
      const reflector = startReflector(server, clock, seed)
      const mirror = mirrorOf(reflector)

      for (const step of steps) await step(server, clock)
      server.faults.length = 0
      await clock.advanceAsync(LONG_ENOUGH_MS)

      const held = [...server.objects.values()].filter(isKept).map(keep)
      expect(sorted(reflector.store.list())).toEqual(sorted(held))
      expect(sorted([...mirror.values()])).toEqual(sorted(held))
      expect(reflector.resourceVersion).toBe(server.resourceVersion)
      for (const word of ['even', 'odd'])
        expect(sorted(reflector.store.byIndex('parity', word))).toEqual(sorted(held.filter((kept) => parity(kept) === word)))
      await end(reflector)
      expect(server.openWatches).toBe(0)
    }),
    { numRuns: 300 },
  )
})

interface Kept {
  readonly name: string
  readonly uid: string
  readonly value: number
}

type Running = ReturnType<typeof startReflector>

function startReflector(server: FakeApiServer, clock: FakeClock, seed: number) {
  const client = createKubeClient({ exchange: server.exchange, clock, userAgent: 'test', log: silentLogger, seed })
  const transform = (thing: Thing, previous: Kept | undefined): Kept | null => {
    expect(previous?.uid ?? thing.metadata.uid).toBe(thing.metadata.uid)
    return isKept(thing) ? keep(thing) : null
  }
  const indexers = { parity }
  const reflector = createReflector({ client, resource: resourcePaths.pods, transform, indexers, clock, log: silentLogger, seed })
  return Object.assign(reflector, { run: reflector.start() })
}

async function end(reflector: Running): Promise<void> {
  reflector.stop()
  await reflector.run
}

/** State of a handler that applies every change; each change must start where the last one ended. */
function mirrorOf(reflector: Running): ReadonlyMap<string, Kept> {
  const mirror = new Map<string, Kept>()
  reflector.subscribe({
    onChange(key, previous, current) {
      expect(mirror.get(key.name)).toEqual(previous)
      if (previous !== undefined && current !== undefined) expect(current.uid).toBe(previous.uid)
      expect(previous ?? current).toBeDefined()
      if (current === undefined) mirror.delete(key.name)
      else mirror.set(key.name, current)
    },
  })
  return mirror
}

function isKept(thing: Thing): boolean {
  return thing.spec.value < 8
}

function keep(thing: Thing): Kept {
  return { name: thing.metadata.name, uid: thing.metadata.uid, value: thing.spec.value }
}

function parity(kept: Kept): string {
  return kept.value % 2 === 0 ? 'even' : 'odd'
}

function sorted(values: readonly Kept[]): readonly Kept[] {
  return values.toSorted((a, b) => a.name.localeCompare(b.name))
}
