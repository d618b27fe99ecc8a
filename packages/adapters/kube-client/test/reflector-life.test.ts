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
  it('of a handler ends the run with that error; the store shows the change and the other handlers know it', async () => {
    const { server, reflector, clock, reported, run } = await running({}, {}, undefined, true)
    const ending = expect(run).rejects.toThrow('handler broke on a')
    server.put('a', 1)
    server.put('b', 2)
    await clock.advanceAsync(0)
    await ending
    expect(reported).toEqual(['a: none → 1'])
    expect(reflector.store.list()).toEqual([1])
    await expect(reflector.whenReached('999')).rejects.toThrow('handler broke on a')
  })

  it('of a handler goes to onHandlerError, which may let the run continue', async () => {
    const errors: string[] = []
    const onHandlerError = (error: unknown, { name }: { name: string }) => void errors.push(`${name}: ${(error as Error).message}`)
    const { server, reflector, clock, reported } = await running({}, { onHandlerError }, undefined, true)
    server.put('a', 1)
    server.put('b', 2)
    await clock.advanceAsync(0)
    expect(errors).toEqual(['a: handler broke on a', 'b: handler broke on b'])
    expect(reported).toEqual(['a: none → 1', 'b: none → 2'])
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
