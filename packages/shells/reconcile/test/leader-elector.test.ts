import { FakeClock } from '@tranche/clock'
import { createLeaderElector, type LeaderElector, type LeasePort, type LeaseWatch } from '@tranche/reconcile'
import type { Lease } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { faultlessJourney, createLeaseServer, type Journey, type LeaseServer } from './lease-server.ts'
import { recordingLogger, type LogLine } from './recording-logger.ts'

describe('createLeaderElector', () => {
  it('creates a missing Lease, and leads', async () => {
    const bench = newBench()
    const a = candidate(bench, 'a')
    a.elector.start()
    await bench.clock.advanceAsync(0)
    expect(a.elector.isLeader()).toBe(true)
    expect(a.calls).toEqual(['started'])
    expect(bench.server.lease()?.spec).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2023-11-14T22:13:20.000000Z',
      renewTime: '2023-11-14T22:13:20.000000Z',
      leaseTransitions: 0,
    })
  })

  it('renews every two seconds by one request, and keeps acquireTime and leaseTransitions', async () => {
    const bench = newBench()
    const a = candidate(bench, 'a')
    a.elector.start()
    await bench.clock.advanceAsync(60_000)
    expect(a.elector.isLeader()).toBe(true)
    expect(a.calls).toEqual(['started'])
    expect(bench.server.requests).toEqual(['read', 'create', ...Array.from({ length: 30 }, () => 'update')])
    expect(bench.server.lease()?.spec).toMatchObject({
      acquireTime: '2023-11-14T22:13:20.000000Z',
      renewTime: '2023-11-14T22:14:20.000000Z',
      leaseTransitions: 0,
    })
  })

  it('lets one of two candidates lead while it renews', async () => {
    const bench = newBench()
    const [a, b] = [candidate(bench, 'a'), candidate(bench, 'b')]
    a.elector.start()
    b.elector.start()
    await bench.clock.advanceAsync(120_000)
    expect([a.elector.isLeader(), b.elector.isLeader()]).toEqual([true, false])
    expect(b.calls).toEqual([])
  })

  it('E2 stops leading ten seconds after it sent the last successful renewal', async () => {
    const bench = newBench()
    const a = candidate(bench, 'a')
    a.elector.start()
    await bench.clock.advanceAsync(4_000)
    a.journey = { ...faultlessJourney, result: 'requestLost' }
    await bench.clock.advanceAsync(9_999)
    expect(a.elector.isLeader()).toBe(true)
    await bench.clock.advanceAsync(1)
    expect(a.elector.isLeader()).toBe(false)
    expect(a.calls).toEqual(['started', 'aborted', 'stopped'])
  })

  it('E2 counts from sending a renewal, not from its response', async () => {
    const bench = newBench()
    const a = candidate(bench, 'a')
    a.elector.start()
    await bench.clock.advanceAsync(0)
    a.journey = { ...faultlessJourney, backMs: 3_000 }
    await bench.clock.advanceAsync(4_500)
    a.journey = { ...faultlessJourney, result: 'hangs' }
    await bench.clock.advanceAsync(7_499)
    expect(a.elector.isLeader()).toBe(true)
    await bench.clock.advanceAsync(1)
    expect(a.elector.isLeader()).toBe(false)
  })

  it('renews again at once after a renewal timed out: a response within three seconds is still in time', async () => {
    const bench = newBench()
    const a = candidate(bench, 'a')
    a.elector.start()
    await bench.clock.advanceAsync(1_000)
    a.journey = { ...faultlessJourney, result: 'hangs' }
    await bench.clock.advanceAsync(1_500)
    a.journey = { ...faultlessJourney, thereMs: 700, backMs: 700 }
    await bench.clock.advanceAsync(20_000)
    expect(a.elector.isLeader()).toBe(true)
    expect(a.calls).toEqual(['started'])
  })

  it('keeps leading when one connection falls silent: a second renewal is in time', async () => {
    const bench = newBench()
    const a = candidate(bench, 'a')
    a.elector.start()
    await bench.clock.advanceAsync(1_000)
    a.journey = { ...faultlessJourney, result: 'hangs' }
    await bench.clock.advanceAsync(2_000)
    a.journey = faultlessJourney
    for (let second = 0; second < 20; second++) {
      await bench.clock.advanceAsync(1_000)
      expect(a.elector.isLeader()).toBe(true)
    }
  })

  it('E2 does not lead past the deadline even if no timer has fired yet', async () => {
    const bench = newBench()
    const frozen = new FakeClock()
    const a = candidate({ ...bench, clock: frozen }, 'a')
    a.elector.start()
    await frozen.advanceAsync(0)
    frozen.monotonicMs = () => 10_000
    expect(a.elector.isLeader()).toBe(false)
    expect(a.calls).toEqual(['started'])
  })

  it('E3 takes over from a dead leader fifteen seconds after it saw the last change', async () => {
    const bench = newBench()
    const [a, b] = [candidate(bench, 'a'), candidate(bench, 'b')]
    a.elector.start()
    b.elector.start()
    await bench.clock.advanceAsync(2_000)
    a.journey = { ...faultlessJourney, result: 'requestLost' }
    await bench.clock.advanceAsync(15_000)
    expect(b.elector.isLeader()).toBe(false)
    await bench.clock.advanceAsync(4_000)
    expect(b.elector.isLeader()).toBe(true)
    expect(bench.server.lease()?.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 })
  })

  it('never compares wall clocks: it also waits for a Lease that looks a year old', async () => {
    const bench = newBench()
    const a = candidate(bench, 'a')
    a.elector.start()
    await bench.clock.advanceAsync(0)
    bench.clock.stepWall(365 * 24 * 3_600_000)
    const b = candidate(bench, 'b')
    b.elector.start()
    await bench.clock.advanceAsync(60_000)
    expect([a.elector.isLeader(), b.elector.isLeader()]).toEqual([true, false])
  })

  it('E1 renews visibly although the wall clock is set back by the elapsed time', async () => {
    const bench = newBench()
    const [a, b] = [candidate(bench, 'a'), candidate(bench, 'b')]
    a.elector.start()
    b.elector.start()
    await bench.clock.advanceAsync(0)
    for (let seconds = 0; seconds < 60; seconds += 2) {
      bench.clock.stepWall(-2_000)
      await bench.clock.advanceAsync(2_000)
    }
    expect([a.elector.isLeader(), b.elector.isLeader()]).toEqual([true, false])
  })

  it('E2 does not start leading if the response to its first write comes after the deadline', async () => {
    const bench = newBench()
    const a = candidate(bench, 'a')
    a.journey = { ...faultlessJourney, backMs: 1_000 }
    a.elector.start()
    await bench.clock.advanceAsync(1_500)
    const beforeFreezeMs = bench.clock.monotonicMs
    bench.clock.monotonicMs = () => 12_000
    await bench.clock.advanceAsync(500)
    expect(a.calls).toEqual([])
    bench.clock.monotonicMs = beforeFreezeMs
  })

  it('stops leading as soon as it sees another holder of the Lease', async () => {
    const bench = newBench()
    const a = candidate(bench, 'a')
    a.elector.start()
    await bench.clock.advanceAsync(0)
    const lease = bench.server.lease()!
    const thief = bench.server.connect(() => faultlessJourney)
    await thief.update({ ...lease, spec: { ...lease.spec, holderIdentity: 'thief' } }, new AbortController().signal)
    await bench.clock.advanceAsync(4_000)
    expect(a.elector.isLeader()).toBe(false)
    expect(a.calls).toEqual(['started', 'aborted', 'stopped'])
  })

  it('competes again after it lost, but only once onStopped has resolved', async () => {
    const bench = newBench()
    const a = candidate(bench, 'a')
    let finishStopping = (): void => {}
    a.onStopped = () => new Promise((resolve) => (finishStopping = resolve))
    a.elector.start()
    await bench.clock.advanceAsync(0)
    a.journey = { ...faultlessJourney, result: 'requestLost' }
    await bench.clock.advanceAsync(10_000)
    a.journey = faultlessJourney
    await bench.clock.advanceAsync(60_000)
    expect(a.calls).toEqual(['started', 'aborted', 'stopped'])
    finishStopping()
    await bench.clock.advanceAsync(2_000)
    expect(a.calls).toEqual(['started', 'aborted', 'stopped', 'started'])
  })

  it('E2 leads its next term while it renews: the deadline of the previous term has no effect', async () => {
    const bench = newBench()
    const a = candidate(bench, 'a')
    a.elector.start()
    await bench.clock.advanceAsync(5_000)
    const thief = bench.server.connect(() => faultlessJourney)
    const hold = async (holderIdentity: string): Promise<void> => {
      const lease = bench.server.lease()!
      await thief.update({ ...lease, spec: { ...lease.spec, holderIdentity } }, new AbortController().signal)
    }
    await hold('thief')
    await bench.clock.advanceAsync(4_000)
    expect(a.calls).toEqual(['started', 'aborted', 'stopped'])
    await hold('')
    await bench.clock.advanceAsync(2_500)
    expect(a.elector.isLeader()).toBe(true)
    await bench.clock.advanceAsync(60_000)
    expect(a.calls).toEqual(['started', 'aborted', 'stopped', 'started'])
    expect(bench.clock.pendingTimers).toBe(2)
  })

  it('continues when the response to a renewal was lost', async () => {
    const bench = newBench()
    const a = candidate(bench, 'a')
    a.elector.start()
    await bench.clock.advanceAsync(0)
    a.journey = { ...faultlessJourney, result: 'answerLost' }
    await bench.clock.advanceAsync(2_000)
    a.journey = faultlessJourney
    await bench.clock.advanceAsync(60_000)
    expect(a.elector.isLeader()).toBe(true)
    expect(a.calls).toEqual(['started'])
  })

  it('warns once while the API server does not answer', async () => {
    const bench = newBench()
    const a = candidate(bench, 'a')
    a.journey = { ...faultlessJourney, result: 'requestLost' }
    a.elector.start()
    await bench.clock.advanceAsync(60_000)
    expect(bench.lines.filter((line) => line.level === 'warn')).toHaveLength(1)
  })

  it('warns again at the next outage of the API server, but not of a lost race', async () => {
    const bench = newBench()
    const a = candidate(bench, 'a')
    const warnings = (): number => bench.lines.filter((line) => line.level === 'warn').length
    a.elector.start()
    await bench.clock.advanceAsync(1_000)
    const lease = bench.server.lease()!
    await bench.server
      .connect(() => faultlessJourney)
      .update({ ...lease, spec: { ...lease.spec, leaseTransitions: 3 } }, new AbortController().signal)
    await bench.clock.advanceAsync(3_000)
    expect([a.elector.isLeader(), warnings()]).toEqual([true, 0])
    for (const result of ['requestLost', 'answered', 'requestLost'] as const) {
      a.journey = { ...faultlessJourney, result }
      await bench.clock.advanceAsync(6_000)
    }
    expect(warnings()).toBe(2)
  })

  it('counts one transition per leader, however often it renews', async () => {
    const bench = newBench()
    const [a, b] = [candidate(bench, 'a'), candidate(bench, 'b')]
    a.elector.start()
    b.elector.start()
    await bench.clock.advanceAsync(2_000)
    await a.elector.stop()
    await bench.clock.advanceAsync(60_000)
    expect(b.elector.isLeader()).toBe(true)
    expect(bench.server.lease()?.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 })
  })

  it('E3 waits its own lease duration for a Lease without one', async () => {
    const bench = newBench()
    const other = bench.server.connect(() => faultlessJourney)
    await other.create({ holderIdentity: 'other' }, new AbortController().signal)
    const a = candidate(bench, 'a')
    a.elector.start()
    await bench.clock.advanceAsync(14_000)
    expect(a.elector.isLeader()).toBe(false)
    await bench.clock.advanceAsync(4_000)
    expect(a.elector.isLeader()).toBe(true)
  })

  it('aborts a request that gets no response in time', async () => {
    const bench = newBench()
    const a = candidate(bench, 'a', {}, (port) => ({ ...port, read: (signal) => (a.signals.push(signal), port.read(signal)) }))
    a.journey = { ...faultlessJourney, result: 'hangs' }
    a.elector.start()
    await bench.clock.advanceAsync(4_999)
    expect(a.signals.map(({ aborted }) => aborted)).toEqual([false])
    await bench.clock.advanceAsync(1)
    expect(a.signals[0]?.aborted).toBe(true)
  })

  it('logs errors of its callbacks and continues', async () => {
    const bench = newBench()
    const a = candidate(bench, 'a')
    a.onStopped = () => Promise.reject(new Error('could not stop'))
    a.elector.start()
    await bench.clock.advanceAsync(0)
    await a.elector.stop()
    expect(bench.lines.filter((line) => line.level === 'error').map((line) => line.message)).toEqual(['leadership callback failed'])
  })

  it('rejects a renew deadline that is not shorter than the lease', () => {
    const bench = newBench()
    expect(() => candidate(bench, 'a', { leaseDurationMs: 10_000, renewDeadlineMs: 10_000 })).toThrow('less than')
  })
})

describe('a candidate that watches the Lease', () => {
  const momentsMs = Array.from({ length: 41 }, (_, index) => 6_000 + index * 50)
  const wayMs = 100

  it.each([
    ['the watch reports it', 0, { crash: 16_000, stop: 2_000 }],
    ['the watch is late by half a second', 500, { crash: 16_000, stop: 2_000 }],
    ['the watch reports nothing', null, { crash: 18_000, stop: 3_500 }],
  ])('E3 follows a leader that crashes or stops at any moment, if %s', async (_name, delayMs, mostMs) => {
    for (const atMs of momentsMs) {
      const crashed = await handOver({ atMs, delayMs, end: (a) => void (a.journey = { ...faultlessJourney, result: 'requestLost' }) })
      expect(crashed).toBeGreaterThan(15_000 - 2_500)
      expect(crashed).toBeLessThanOrEqual(mostMs.crash)
      expect(await handOver({ atMs, delayMs, end: (a) => void a.elector.stop() })).toBeLessThanOrEqual(mostMs.stop)
    }
  })

  /** @returns how long there is no leader, in milliseconds */
  async function handOver(how: { atMs: number; delayMs: number | null; end: (leader: Candidate) => void }): Promise<number> {
    const bench = newBench()
    const [a, b] = [candidate(bench, 'a'), candidate(bench, 'b', { watch: bench.server.watchedWith(() => how.delayMs) })]
    for (const each of [a, b]) each.journey = { ...faultlessJourney, thereMs: wayMs, backMs: wayMs }
    a.elector.start()
    await bench.clock.advanceAsync(1_000)
    b.elector.start()
    await bench.clock.advanceAsync(how.atMs - 1_000)
    expect([a.elector.isLeader(), b.elector.isLeader()]).toEqual([true, false])
    how.end(a)
    for (let passedMs = 0; passedMs < 30_000; passedMs += 50) {
      if (b.elector.isLeader()) return passedMs
      await bench.clock.advanceAsync(50)
    }
    throw new Error('no candidate leads')
  }

  it('sends no requests while it sees renewals', async () => {
    const bench = newBench()
    const [a, b] = [candidate(bench, 'a'), candidate(bench, 'b', { watch: bench.server.watchedWith(() => 20) })]
    a.journey = { ...faultlessJourney, thereMs: wayMs, backMs: wayMs }
    a.elector.start()
    await bench.clock.advanceAsync(1_000)
    b.elector.start()
    await bench.clock.advanceAsync(60_000)
    expect(a.elector.isLeader()).toBe(true)
    expect(bench.server.requests.filter((request) => request === 'read')).toHaveLength(2)
  })

  it('E1 never takes the Lease by a report of its watch: it reads the Lease first', async () => {
    const bench = newBench()
    let say: (lease: Lease | null) => void = () => {}
    const [a, b] = [candidate(bench, 'a'), candidate(bench, 'b', { watch: (onSeen) => void (say = onSeen) })]
    a.elector.start()
    b.elector.start()
    await bench.clock.advanceAsync(1_000)
    const lease = bench.server.lease()!
    say({ ...lease, metadata: { ...lease.metadata, resourceVersion: '99' }, spec: { ...lease.spec, holderIdentity: '' } })
    await bench.clock.advanceAsync(100)
    say(null)
    await bench.clock.advanceAsync(60_000)
    expect([a.elector.isLeader(), b.elector.isLeader()]).toEqual([true, false])
    expect(bench.server.requests.slice(-40)).toContain('read')
  })

  it('E3 does not restart its count at an old report', async () => {
    const bench = newBench()
    const [a, b] = [candidate(bench, 'a'), candidate(bench, 'b', { watch: bench.server.watchedWith(() => 9_000) })]
    a.elector.start()
    b.elector.start()
    await bench.clock.advanceAsync(5_000)
    a.journey = { ...faultlessJourney, result: 'requestLost' }
    await bench.clock.advanceAsync(18_000)
    expect(b.elector.isLeader()).toBe(true)
  })

  it('reads no more often than without a watch when it cannot take a free Lease', async () => {
    // Each attempt is a read that is answered and a write that is lost.
    const bench = newBench()
    const [a, b] = [candidate(bench, 'a'), candidate(bench, 'b', { watch: bench.server.watchedWith(() => 0) })]
    a.elector.start()
    await bench.clock.advanceAsync(1_000)
    await a.elector.stop()
    let attempts = 0
    Object.defineProperty(b, 'journey', { get: () => ({ ...faultlessJourney, result: ++attempts % 2 === 0 ? 'requestLost' : 'answered' }) })
    b.elector.start()
    await bench.clock.advanceAsync(60_000)
    expect(attempts).toBeGreaterThan(40)
    expect(attempts).toBeLessThanOrEqual(2 * 31)
  })
})

describe('stopping a candidate', () => {
  it('E3 releases the Lease, so that the next candidate leads at its next attempt', async () => {
    const bench = newBench()
    const [a, b] = [candidate(bench, 'a'), candidate(bench, 'b')]
    a.elector.start()
    b.elector.start()
    await bench.clock.advanceAsync(2_000)
    await a.elector.stop()
    expect(a.calls).toEqual(['started', 'aborted', 'stopped'])
    expect(bench.server.lease()?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 })
    await bench.clock.advanceAsync(2_000)
    expect(b.elector.isLeader()).toBe(true)
    expect(bench.server.lease()?.spec?.leaseTransitions).toBe(1)
  })

  it('releases the Lease only when onStopped has resolved', async () => {
    const bench = newBench()
    const a = candidate(bench, 'a')
    let finishStopping = (): void => {}
    a.onStopped = () => new Promise((resolve) => (finishStopping = resolve))
    a.elector.start()
    await bench.clock.advanceAsync(2_000)
    const stopped = a.elector.stop()
    expect(a.elector.isLeader()).toBe(false)
    await bench.clock.advanceAsync(1_000)
    expect(bench.server.lease()?.spec?.holderIdentity).toBe('a')
    finishStopping()
    await stopped
    expect(bench.server.lease()?.spec?.holderIdentity).toBe('')
  })

  it('does not change a Lease of another holder', async () => {
    const bench = newBench()
    const [a, b] = [candidate(bench, 'a'), candidate(bench, 'b')]
    a.elector.start()
    b.elector.start()
    await bench.clock.advanceAsync(2_000)
    await b.elector.stop()
    expect(bench.server.lease()?.spec?.holderIdentity).toBe('a')
    expect(b.calls).toEqual([])
  })

  it('ends within three seconds when the API server hangs, and leaves no timer behind', async () => {
    const bench = newBench()
    const a = candidate(bench, 'a')
    a.elector.start()
    await bench.clock.advanceAsync(1_000)
    a.journey = { ...faultlessJourney, result: 'hangs' }
    const stopped = a.elector.stop()
    await bench.clock.advanceAsync(3_000)
    await stopped
    expect(bench.clock.pendingTimers).toBe(0)
  })
})

interface Bench {
  readonly clock: FakeClock
  readonly server: LeaseServer
  readonly lines: LogLine[]
}

interface Candidate {
  readonly elector: LeaderElector
  readonly calls: string[]
  /** Requests that a test examines. */
  readonly signals: AbortSignal[]
  journey: Journey
  onStopped: () => void | Promise<void>
}

function newBench(): Bench {
  const clock = new FakeClock()
  return { clock, server: createLeaseServer(clock), lines: [] }
}

function candidate(
  bench: Bench,
  identity: string,
  timings: { leaseDurationMs?: number; renewDeadlineMs?: number; watch?: LeaseWatch } = {},
  around: (port: LeasePort) => LeasePort = (port) => port,
): Candidate {
  const calls: string[] = []
  const elector = createLeaderElector({
    port: around(bench.server.connect(() => self.journey)),
    identity,
    clock: bench.clock,
    log: recordingLogger(bench.lines),
    onStarted(signal) {
      calls.push('started')
      signal.addEventListener('abort', () => calls.push('aborted'))
    },
    onStopped() {
      calls.push('stopped')
      return self.onStopped()
    },
    ...timings,
  })
  const self: Candidate = { elector, calls, signals: [], journey: faultlessJourney, onStopped: () => {} }
  return self
}
