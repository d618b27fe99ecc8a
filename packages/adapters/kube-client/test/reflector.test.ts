import { VirtualClock } from '@tranche/clock'
import { type Logger, silentLogger } from '@tranche/telemetry'
import { describe, expect, it } from 'vitest'
import { FakeApiServer } from './fake-api-server.ts'
import { lists, running, setUp } from './running-reflector.ts'

const key = (name: string) => ({ namespace: 'default', name })

describe('a reflector', () => {
  it('lists once, then watches from that version', async () => {
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

  it('resumes after a reset, without a list', async () => {
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
  ])('lists again after 410 %s, and reports the missed changes', async (_name, lose) => {
    const { server, reflector, clock, reported } = await running({ a: 1, b: 2 })
    server.delayMs = () => 1_000_000
    server.remove('a')
    server.put('c', 3)
    server.compact()
    lose(server)
    await clock.advanceAsync(1_000)
    expect(reported).toEqual(['a: 1 → none', 'c: none → 3'])
    expect(reflector.store.list()).toEqual([2, 3])
    reflector.stop()
  })

  it('reports a recreated object as removed, then added', async () => {
    const { server, reflector, clock, reported } = await running({ a: 1 })
    server.delayMs = () => 1_000_000
    server.remove('a')
    server.put('a', 1)
    server.compact()
    server.resetWatches()
    await clock.advanceAsync(1_000)
    expect(reported).toEqual(['a: 1 → none', 'a: none → 1'])
    reflector.stop()
  })

  it('uses the UID even if no event reported the deletion', async () => {
    const { server, reflector, clock, reported } = await running({ a: 1 })
    server.swap('a', 2)
    await clock.advanceAsync(0)
    expect(reported).toEqual(['a: 1 → none', 'a: none → 2'])
    reflector.stop()
  })

  it('reconnects at once after a watch that the server ended normally, every time', async () => {
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

  it('does not overload a server that sends an event and ends the watch', async () => {
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

  it('waits only briefly after a fault of a good watch, even one without events', async () => {
    const { server, reflector, clock } = await running()
    for (let i = 0; i < 10; i++) {
      await clock.advanceAsync(30_000)
      server.resetWatches()
      await clock.advanceAsync(100)
      expect(server.openWatches).toBe(1)
    }
    reflector.stop()
  })

  it('detects a silent connection', async () => {
    const { server, reflector, clock } = await running({ a: 1 })
    server.stallWatches()
    server.put('a', 2)
    await clock.advanceAsync(149_000)
    expect(reflector.store.get(key('a'))).toBe(1)
    await clock.advanceAsync(1_200)
    expect(reflector.store.get(key('a'))).toBe(2)
    reflector.stop()
  })

  it('keeps a quiet watch that sends bookmarks, and advances by them', async () => {
    const { server, reflector, clock } = await running()
    server.compact()
    await clock.advanceAsync(600_000)
    expect(reflector.resourceVersion).toBe(server.resourceVersion)
    expect(server.requests).toHaveLength(2)
    reflector.stop()
  })

  it('waits longer and longer during an outage, up to 30 s, and logs it', async () => {
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

  it.each([
    [403, 'error', 'Grant the permission'],
    [404, 'error', 'CustomResourceDefinitions'],
    [401, 'debug', undefined],
    [503, 'warn', undefined],
  ])('logs a response %i at the level %s with a hint', async (code, level, hint) => {
    const lines: { readonly level: string; readonly hint?: unknown }[] = []
    const write =
      (at: string): Logger['warn'] =>
      (fields) =>
        void (fields['attempt'] === 1 && lines.push({ level: at, hint: fields['hint'] }))
    const log: Logger = { ...silentLogger, child: () => log, debug: write('debug'), warn: write('warn'), error: write('error') }
    const { server, reflector, clock } = setUp({ log })
    for (let i = 0; i < 8; i++) server.faults.push({ kind: 'status', code })
    void reflector.start()
    await clock.advanceAsync(10_000)
    reflector.stop()
    const [line] = lines.filter((one) => one.hint !== undefined || one.level === level)
    expect(line?.level).toBe(level)
    if (hint === undefined) expect(line?.hint).toBeUndefined()
    else expect(line?.hint).toContain(hint)
  })

  it('does not overload a server that ends every watch at once', async () => {
    const { server, reflector, clock } = await running()
    const before = server.requests.length
    for (let i = 0; i < 60_000; i += 10) {
      server.endWatches()
      await clock.advanceAsync(10)
    }
    expect(server.requests.length - before).toBeLessThan(20)
    reflector.stop()
  })

  it('lists again when a version keeps failing', async () => {
    const { server, reflector, clock } = await running()
    // The reset is the first failure.
    for (let i = 0; i < 7; i++) server.faults.push({ kind: 'status', code: 504 })
    server.resetWatches()
    await clock.advanceAsync(60_000)
    expect(lists(server)).toBe(2)
    reflector.stop()
  })

  it('counts the lists that it requests and applies', async () => {
    const { server, reflector, clock } = setUp()
    expect(reflector.listsOf('default')).toEqual({ begun: 0, done: 0 })
    server.faults.push(
      { kind: 'status', code: 500 },
      { kind: 'status', code: 500 },
      { kind: 'status', code: 500 },
      { kind: 'status', code: 500 },
    )
    void reflector.start()
    await clock.advanceAsync(0)
    expect(reflector.listsOf('default')).toEqual({ begun: 1, done: 0 })
    await clock.advanceAsync(60_000)
    expect(reflector.listsOf('default')).toEqual({ begun: 2, done: 2 })
    reflector.stop()
  })

  it('lists again for a refresh, and watches on from there', async () => {
    const { server, reflector, clock } = await running({ a: 1 })
    const before = reflector.connectionChanges
    const refreshed = reflector.refresh()
    await clock.advanceAsync(1_000)
    await refreshed
    expect(reflector.listsOf('default')).toEqual({ begun: 2, done: 2 })
    expect(reflector.listsDone).toBe(2)
    expect(reflector.connectionChanges).toBe(before + 2)
    server.put('a', 2)
    await clock.advanceAsync(0)
    expect(reflector.store.get(key('a'))).toBe(2)
    reflector.stop()
  })

  it('does not count a refresh as a fault, and reconnects at once', async () => {
    const warned: unknown[] = []
    const log: Logger = { ...silentLogger, child: () => log, warn: (fields) => void warned.push(fields) }
    const { server, reflector, clock } = await running({ a: 1 }, { log })
    for (let i = 0; i < 5; i++) {
      await clock.advanceAsync(1_000)
      const refreshed = reflector.refresh()
      await clock.advanceAsync(0)
      await refreshed
      await clock.advanceAsync(0)
      expect(server.openWatches).toBe(1)
    }
    expect(warned).toEqual([])
    reflector.stop()
  })

  it('lists once more at once for a refresh that comes while it lists', async () => {
    const { server, reflector, clock } = setUp()
    server.put('a', 1)
    void reflector.start()
    const refreshed = reflector.refresh()
    await clock.advanceAsync(0)
    await refreshed
    expect(reflector.listsOf('default')).toEqual({ begun: 2, done: 2 })
    reflector.stop()
  })

  it('rejects an unfinished refresh when it ends', async () => {
    const { server, reflector, clock } = await running({ a: 1 })
    for (let i = 0; i < 3; i++) server.faults.push({ kind: 'status', code: 500 })
    const refreshed = expect(reflector.refresh()).rejects.toThrow('the reflector was stopped')
    await clock.advanceAsync(0)
    reflector.stop()
    await refreshed
  })

  it('lists again when a bookmark shows that the server was restored to an older state', async () => {
    const { server, reflector, clock, reported } = await running({ a: 1 })
    server.setBack()
    await clock.advanceAsync(61_000)
    expect(reported).toEqual(['a: 1 → none'])
    expect(reflector.resourceVersion).toBe('10')
    reflector.stop()
  })

  it('keeps its position when an event of an older version follows a newer one', async () => {
    const { server, reflector, clock } = await running({ a: 1, b: 2 })
    server.put('a', 3)
    await clock.advanceAsync(0)
    expect(reflector.resourceVersion).toBe('103')
    server.sendLate('b', 5, 90)
    await clock.advanceAsync(0)
    expect(reflector.store.get(key('b'))).toBe(5)
    expect(reflector.resourceVersion).toBe('103')
    await reflector.whenReached('103')
    reflector.stop()
  })

  it('does not report a change that transform ignores', async () => {
    const { server, reflector, clock, reported } = await running({ a: 1 }, { transform: (thing, previous) => previous ?? thing.spec.value })
    server.put('a', 2)
    await clock.advanceAsync(0)
    expect(reported).toEqual([])
    expect(reflector.resourceVersion).toBe('102')
    reflector.stop()
  })

  it('removes an object that transform no longer keeps', async () => {
    const { server, reflector, clock, reported } = await running(
      { a: 1 },
      { transform: ({ spec }) => (spec.value < 8 ? spec.value : null) },
    )
    server.put('a', 9)
    server.put('b', 9)
    await clock.advanceAsync(0)
    expect(reported).toEqual(['a: 1 → none'])
    expect(reflector.store.size).toBe(0)
    expect(reflector.resourceVersion).toBe('103')
    reflector.stop()
  })

  it('lists and watches its scope', async () => {
    const { server, reflector, clock } = await running({}, { scope: { namespace: 'demo', labelSelector: 'a=b' } })
    await clock.advanceAsync(0)
    const paths = server.requests.map(({ path }) => path.split('?')[0])
    expect(paths).toEqual(['/api/v1/namespaces/demo/pods', '/api/v1/namespaces/demo/pods'])
    for (const { path } of server.requests) expect(path).toContain('labelSelector=a%3Db')
    reflector.stop()
  })

  it('does not transform listed objects without the mark', async () => {
    const seen: number[] = []
    const transform = ({ spec }: { readonly spec: { readonly value: number } }): number => (seen.push(spec.value), spec.value)
    const { reflector } = await running({ a: 1, b: 77 }, { mark: '77', transform })
    expect(seen).toEqual([77])
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

  it('runs on virtual time', async () => {
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
