import { FakeClock, VirtualClock } from '@tranche/clock'
import { createKubeClient, createReflector, type ReflectorOptions, resourcePaths } from '@tranche/kube-client'
import { type Logger, silentLogger } from '@tranche/log'
import { describe, expect, it } from 'vitest'
import { FakeApiServer, type Thing } from './fake-api-server.ts'

const key = (name: string) => ({ namespace: 'default', name })

describe('a reflector', () => {
  it('lists once, then watches from there', async () => {
    const { server, reflector, clock } = setUp()
    server.put('a', 1)
    server.put('b', 2)
    server.put('c', 3)
    void reflector.start()
    expect(reflector.synced).toBe(false)
    await reflector.whenSynced()
    expect(reflector.store.list()).toEqual([1, 2, 3])
    expect(reflector.resourceVersion).toBe('103')
    server.put('b', 5)
    await clock.advanceAsync(0)
    expect(reflector.store.get(key('b'))).toBe(5)
    expect(reflector.resourceVersion).toBe('104')
    expect(lists(server)).toBe(2)
    reflector.stop()
  })

  it('goes on from where it was after a reset, without a list', async () => {
    const { server, reflector, clock } = await running()
    server.resetWatches()
    server.put('a', 1)
    await clock.advanceAsync(100)
    expect(reflector.store.get(key('a'))).toBe(1)
    expect(lists(server)).toBe(1)
    reflector.stop()
  })

  it.each([
    ['as the answer', (server: FakeApiServer) => server.resetWatches()],
    ['within the stream', (server: FakeApiServer) => server.sendError(410)],
  ])('lists anew after 410 %s, and tells what was missed', async (_name, lose) => {
    const { server, reflector, clock, told } = await running({ a: 1, b: 2 })
    server.delayMs = () => 1_000_000
    server.remove('a')
    server.put('c', 3)
    server.compact()
    lose(server)
    await clock.advanceAsync(1_000)
    expect(told).toEqual(['a: 1 → none', 'c: none → 3'])
    expect(reflector.store.list()).toEqual([2, 3])
    reflector.stop()
  })

  it('tells an object that was made anew under its name as gone, then come', async () => {
    const { server, reflector, clock, told } = await running({ a: 1 })
    server.delayMs = () => 1_000_000
    server.remove('a')
    server.put('a', 1)
    server.compact()
    server.resetWatches()
    await clock.advanceAsync(1_000)
    expect(told).toEqual(['a: 1 → none', 'a: none → 1'])
    reflector.stop()
  })

  it('goes by the UID even where no event said that the old object went', async () => {
    const { server, reflector, clock, told } = await running({ a: 1 })
    server.swap('a', 2)
    await clock.advanceAsync(0)
    expect(told).toEqual(['a: 1 → none', 'a: none → 2'])
    reflector.stop()
  })

  it('comes back at once after a watch that the server ended in good order, every time', async () => {
    const { server, reflector, clock } = await running()
    for (let i = 0; i < 10; i++) {
      server.put('a', i)
      await clock.advanceAsync(1_000)
      server.endWatches()
      await clock.advanceAsync(0)
      expect(server.openWatches).toBe(1)
    }
    reflector.stop()
  })

  it('does not hammer a server that sends something and ends the watch, either', async () => {
    const { server, reflector, clock } = await running()
    const before = server.requests.length
    for (let i = 0; i < 1_000; i += 10) {
      server.put('a', i)
      await clock.advanceAsync(10)
      server.endWatches()
    }
    expect(server.requests.length - before).toBeLessThanOrEqual(10)
    reflector.stop()
  })

  it('waits only briefly after a fault that follows a good watch, be it one on which nothing happened', async () => {
    const { server, reflector, clock } = await running()
    for (let i = 0; i < 10; i++) {
      await clock.advanceAsync(30_000)
      server.resetWatches()
      await clock.advanceAsync(100)
      expect(server.openWatches).toBe(1)
    }
    reflector.stop()
  })

  it('notices a connection that fell silent', async () => {
    const { server, reflector, clock } = await running({ a: 1 })
    server.stallWatches()
    server.put('a', 2)
    await clock.advanceAsync(149_000)
    expect(reflector.store.get(key('a'))).toBe(1)
    await clock.advanceAsync(1_200)
    expect(reflector.store.get(key('a'))).toBe(2)
    reflector.stop()
  })

  it('keeps a quiet watch that sends bookmarks, and gets on by them', async () => {
    const { server, reflector, clock } = await running()
    server.compact()
    await clock.advanceAsync(600_000)
    expect(reflector.resourceVersion).toBe(server.resourceVersion)
    expect(server.requests).toHaveLength(2)
    reflector.stop()
  })

  it('waits longer and longer while nothing works, up to half a minute, and says so', async () => {
    const warned: { attempt: number; recheckAfterMs: number }[] = []
    const log: Logger = { ...silentLogger, child: () => log, warn: (fields) => void warned.push(fields as (typeof warned)[number]) }
    const { server, reflector, clock } = setUp({ log })
    for (let i = 0; i < 4 * 12; i++) server.faults.push({ kind: 'status', code: 503 })
    void reflector.start()
    await clock.advanceAsync(200_000)
    expect(reflector.synced).toBe(true)
    expect(warned.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    for (const { attempt, recheckAfterMs } of warned) {
      const fullMs = Math.min(30_000, 100 * 2 ** (attempt - 1))
      expect(recheckAfterMs).toBeGreaterThanOrEqual(fullMs / 2)
      expect(recheckAfterMs).toBeLessThanOrEqual(fullMs)
    }
    reflector.stop()
  })

  it('does not hammer a server that ends every watch at once', async () => {
    const { server, reflector, clock } = await running()
    const before = server.requests.length
    for (let i = 0; i < 60_000; i += 10) {
      server.endWatches()
      await clock.advanceAsync(10)
    }
    expect(server.requests.length - before).toBeLessThan(20)
    reflector.stop()
  })

  it('lists anew when a version leads nowhere for long', async () => {
    const { server, reflector, clock } = await running()
    // The reset is the first failure.
    for (let i = 0; i < 7; i++) server.faults.push({ kind: 'status', code: 504 })
    server.resetWatches()
    await clock.advanceAsync(60_000)
    expect(lists(server)).toBe(2)
    reflector.stop()
  })

  it('does not tell a change that transform calls none', async () => {
    const { server, reflector, clock, told } = await running({ a: 1 }, { transform: (thing, previous) => previous ?? thing.spec.value })
    server.put('a', 2)
    await clock.advanceAsync(0)
    expect(told).toEqual([])
    expect(reflector.resourceVersion).toBe('102')
    reflector.stop()
  })

  it('lets go of an object that is no longer of interest', async () => {
    const { server, reflector, clock, told } = await running({ a: 1 }, { transform: ({ spec }) => (spec.value < 8 ? spec.value : null) })
    server.put('a', 9)
    server.put('b', 9)
    await clock.advanceAsync(0)
    expect(told).toEqual(['a: 1 → none'])
    expect(reflector.store.size).toBe(0)
    expect(reflector.resourceVersion).toBe('103')
    reflector.stop()
  })

  it('finds values by index', async () => {
    const { server, reflector, clock } = await running(
      { a: 1, b: 2, c: 3 },
      { indexers: { parity: (value) => (value % 2 === 0 ? 'even' : 'odd') } },
    )
    expect(reflector.store.byIndex('parity', 'odd')).toEqual([1, 3])
    server.put('a', 4)
    server.remove('c')
    await clock.advanceAsync(0)
    expect(reflector.store.byIndex('parity', 'odd')).toEqual([])
    expect(reflector.store.byIndex('parity', 'even')).toEqual([2, 4])
    expect(() => reflector.store.byIndex('colour', 'red')).toThrow('no index colour')
    reflector.stop()
  })

  it('lives on virtual time', async () => {
    const clock = new VirtualClock()
    const server = new FakeApiServer(clock)
    server.delayMs = () => 20
    const { reflector } = setUp({}, server, clock)
    void reflector.start()
    clock.setTimer(3_600_000, () => server.put('a', 7))
    expect(await clock.run({ done: () => reflector.store.size > 0 })).toBe('done')
    expect(clock.monotonicMs()).toBe(3_600_020)
    reflector.stop()
  })
})

describe('waiting for a reflector', () => {
  it('ends when the store has got there', async () => {
    const { server, reflector, clock } = await running()
    const reached: string[] = []
    void reflector.whenReached('101').then(() => reached.push('101'))
    void reflector.whenReached('102').then(() => reached.push('102'))
    await reflector.whenReached('9')
    server.put('a', 1)
    await clock.advanceAsync(0)
    expect(reached).toEqual(['101'])
    server.compact()
    await clock.advanceAsync(60_000)
    expect(reached).toEqual(['101', '102'])
    reflector.stop()
  })

  it('ends with the reason when the caller or the reflector gives up', async () => {
    const { server, reflector, clock } = setUp()
    server.faults.push({ kind: 'hang' })
    const run = reflector.start()
    const abort = new AbortController()
    const callerWaits = expect(reflector.whenSynced(abort.signal)).rejects.toThrow('enough')
    const waits = expect(reflector.whenSynced()).rejects.toThrow('was stopped')
    abort.abort(new Error('enough'))
    reflector.stop()
    await callerWaits
    await waits
    await run
    await expect(reflector.whenReached('1')).rejects.toThrow('was stopped')
    expect(clock.pendingTimers).toBe(0)
  })
})

describe('stopping a reflector', () => {
  it.each([
    ['while it watches', (_server: FakeApiServer) => {}],
    ['while it backs off', (server: FakeApiServer) => server.resetWatches()],
    ['while a list hangs', (server: FakeApiServer) => (server.faults.push({ kind: 'hang' }), server.sendError(410))],
  ])('ends it at once %s, and for good', async (_name, prepare) => {
    const abort = new AbortController()
    const { server, reflector, clock, run } = await running({}, {}, abort.signal)
    prepare(server)
    await clock.advanceAsync(40)
    abort.abort(new Error('shutting down'))
    await run
    const before = server.requests.length
    await clock.advanceAsync(300_000)
    expect(server.requests).toHaveLength(before)
    expect(server.openWatches).toBe(0)
    expect(reflector.synced).toBe(true)
  })

  it('tells nothing afterwards', async () => {
    const { server, reflector, clock, told, run } = await running()
    server.delayMs = () => 10
    server.put('a', 1)
    reflector.stop()
    await clock.advanceAsync(10)
    await run
    expect(told).toEqual([])
  })
})

describe('an error of our own', () => {
  it('of a handler ends the run with that error; the store shows the change and the other handlers know it', async () => {
    const { server, reflector, clock, told, run } = await running({}, {}, undefined, true)
    const ending = expect(run).rejects.toThrow('handler broke on a')
    server.put('a', 1)
    server.put('b', 2)
    await clock.advanceAsync(0)
    await ending
    expect(told).toEqual(['a: none → 1'])
    expect(reflector.store.list()).toEqual([1])
    await expect(reflector.whenReached('999')).rejects.toThrow('handler broke on a')
  })

  it('of a handler goes to onHandlerError, which may let the run go on', async () => {
    const errors: string[] = []
    const onHandlerError = (error: unknown, { name }: { name: string }) => void errors.push(`${name}: ${(error as Error).message}`)
    const { server, reflector, clock, told } = await running({}, { onHandlerError }, undefined, true)
    server.put('a', 1)
    server.put('b', 2)
    await clock.advanceAsync(0)
    expect(errors).toEqual(['a: handler broke on a', 'b: handler broke on b'])
    expect(told).toEqual(['a: none → 1', 'b: none → 2'])
    reflector.stop()
  })

  it('of transform ends the run, in a list and in a watch', async () => {
    const transform = (thing: Thing): number => {
      if (thing.spec.value === 13) throw new Error('cannot read 13')
      return thing.spec.value
    }
    const listing = setUp({ transform })
    listing.server.put('a', 13)
    await expect(listing.reflector.start()).rejects.toThrow('cannot read 13')
    const watching = await running({}, { transform })
    const ending = expect(watching.run).rejects.toThrow('cannot read 13')
    watching.server.put('a', 13)
    await watching.clock.advanceAsync(0)
    await ending
  })

  it('of the caller: a second start', async () => {
    const { reflector } = await running()
    await expect(reflector.start()).rejects.toThrow('started before')
    reflector.stop()
  })
})

type Options = Partial<ReflectorOptions<number, Thing>>

function setUp<C extends FakeClock | VirtualClock = FakeClock>(
  options: Options = {},
  server?: FakeApiServer,
  clock: C = new FakeClock() as C,
) {
  const api = server ?? new FakeApiServer(clock)
  const log = options.log ?? silentLogger
  const client = createKubeClient({ exchange: api.exchange, clock, userAgent: 'test', log })
  const reflector = createReflector<number, Thing>({
    client,
    resource: resourcePaths.pods,
    transform: (thing) => thing.spec.value,
    clock,
    log,
    ...options,
  })
  return { server: api, reflector, clock }
}

/** A reflector that has synced, and everything it has told since. */
async function running(objects: Record<string, number> = {}, options: Options = {}, signal?: AbortSignal, brokenHandler = false) {
  const { server, reflector, clock } = setUp(options)
  for (const [name, value] of Object.entries(objects)) server.put(name, value)
  const run = reflector.start(signal)
  await reflector.whenSynced()
  await clock.advanceAsync(0)
  const told: string[] = []
  if (brokenHandler) {
    reflector.subscribe({
      onChange: ({ name }) => {
        throw new Error(`handler broke on ${name}`)
      },
    })
  }
  reflector.subscribe({
    onChange: ({ name }, previous, current) => void told.push(`${name}: ${previous ?? 'none'} → ${current ?? 'none'}`),
  })
  return { server, reflector, clock, told, run }
}

function lists(server: FakeApiServer): number {
  return server.requests.filter((request) => !request.path.includes('watch=true')).length
}
