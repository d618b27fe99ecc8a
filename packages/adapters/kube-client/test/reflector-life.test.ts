import { type Logger, silentLogger } from '@tranche/telemetry'
import { describe, expect, it } from 'vitest'
import type { FakeApiServer, Thing } from './fake-api-server.ts'
import { running, setUp } from './running-reflector.ts'

describe('waiting for a reflector', () => {
  it('ends when the store has reached the version', async () => {
    const { server, reflector, clock } = await running()
    const reached: string[] = []
    void reflector.whenReached('101').then(() => reached.push('101'))
    void reflector.whenReached('102').then(() => reached.push('102'))
    void reflector.whenReachedIn('default', '101').then(() => reached.push('101 in a namespace'))
    await reflector.whenReached('9')
    server.put('a', 1)
    await clock.advanceAsync(0)
    expect(reached).toEqual(['101', '101 in a namespace'])
    server.compact()
    await clock.advanceAsync(60_000)
    expect(reached).toEqual(['101', '101 in a namespace', '102'])
    reflector.stop()
  })

  it('ends with the reason when the caller aborts or the reflector stops', async () => {
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

  it('before its start makes it do nothing', async () => {
    const { server, reflector } = setUp()
    reflector.stop()
    await reflector.start()
    expect(server.requests).toEqual([])
    await expect(reflector.whenSynced()).rejects.toThrow('was stopped')
  })

  it('reports nothing afterwards', async () => {
    const { server, reflector, clock, reported, run } = await running()
    server.delayMs = () => 10
    server.put('a', 1)
    reflector.stop()
    await clock.advanceAsync(10)
    await run
    expect(reported).toEqual([])
  })
})

describe('an error of our own', () => {
  it('of a handler ends nothing: the store shows the change, the other handlers know it, and later objects follow', async () => {
    const { lines, log } = errorLines()
    const { server, reflector, clock, reported, run } = await running({}, { log }, undefined, true)
    server.put('a', 1)
    server.put('b', 2)
    server.put('b', 3)
    await clock.advanceAsync(0)
    expect(reported).toEqual(['a: none → 1', 'b: none → 2', 'b: 2 → 3'])
    expect(reflector.store.list()).toEqual([1, 3])
    // One line per object and cause.
    expect(lines).toEqual([
      'a follower of changes failed: default/a: handler broke on a',
      'a follower of changes failed: default/b: handler broke on b',
    ])
    reflector.stop()
    await run
  })

  it.each([
    { part: 'transform', options: { transform: ({ spec: { value } }: Thing): number => readable(value) } },
    { part: 'an indexer', options: { indexers: { value: (value: number): string => String(readable(value)) } } },
  ])('of $part leaves out the object, in a list and in a watch, until it can be read', async ({ options }) => {
    const { lines, log } = errorLines()
    const { server, reflector, clock, run, reported } = await running({ a: 13, b: 2 }, { ...options, log })
    expect(reflector.store.list()).toEqual([2])
    server.put('b', 13)
    server.put('c', 3)
    await clock.advanceAsync(0)
    expect(reflector.store.list()).toEqual([3])
    server.put('a', 1)
    server.put('b', 13)
    await clock.advanceAsync(0)
    expect(reported).toEqual(['b: 2 → none', 'c: none → 3', 'a: none → 1'])
    expect(lines).toEqual(['a', 'b'].map((name) => `left out an object that cannot be read: default/${name}: cannot read 13`))
    reflector.stop()
    await run
  })

  it('of the caller: a second start', async () => {
    const { reflector } = await running()
    await expect(reflector.start()).rejects.toThrow('started before')
    reflector.stop()
  })
})

function readable(value: number): number {
  if (value === 13) throw new Error('cannot read 13')
  return value
}

/** Log that keeps the lines at `error`, with the object and the message of the error. */
function errorLines(): { readonly lines: string[]; readonly log: Logger } {
  const lines: string[] = []
  const log: Logger = {
    ...silentLogger,
    error: ({ object, err }, message) => void lines.push(`${message}: ${String(object)}: ${(err as Error).message}`),
    child: () => log,
  }
  return { lines, log }
}
