import { FakeClock, sleep, type Clock } from '@tranche/clock'
import { silentLogger } from '@tranche/telemetry'
import { createLeaderElector, type LeaderElector } from '@tranche/reconcile'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { faultlessJourney, createLeaseServer, type Journey } from './lease-server.ts'

const CANDIDATES = 3

describe('leader election, with faults of requests and clocks,', () => {
  it('E1 never has two leaders at once, E2 callbacks agree with isLeader, E3 has one again once the faults end', async () => {
    const seen = { terms: 0, handovers: 0, lost: 0 }
    await fc.assert(
      fc.asyncProperty(environmentArbitrary, (environment) => endure(environment, seen)),
      { numRuns: 120 },
    )
    expect(seen.terms).toBeGreaterThan(120)
    expect(seen.handovers).toBeGreaterThan(20)
    expect(seen.lost).toBeGreaterThan(20)
  })
})

interface Environment {
  readonly journeys: readonly Journey[]
  readonly spells: readonly Spell[]
  /** Delays after which watches report a change; null: never. Empty: no candidate has a watch. */
  readonly tidings: readonly (number | null)[]
  /** How fast the monotonic clock of each candidate runs, within what E1 allows. */
  readonly rates: readonly number[]
}

type Spell = {
  readonly ms: number
  readonly wallStepMs: number
  readonly candidate: number
  readonly what: 'nothing' | 'isolate' | 'restart'
}

const journeyArbitrary: fc.Arbitrary<Journey> = fc.record({
  thereMs: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(3_000), fc.nat(25_000)),
  backMs: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(3_000), fc.nat(25_000)),
  result: fc.oneof(
    { weight: 8, arbitrary: fc.constant('answered' as const) },
    fc.constantFrom('requestLost' as const, 'answerLost' as const, 'hangs' as const),
  ),
})

const environmentArbitrary: fc.Arbitrary<Environment> = fc.record({
  journeys: fc.array(journeyArbitrary, { minLength: 1, maxLength: 40 }),
  spells: fc.array(
    fc.record({
      ms: fc.integer({ min: 500, max: 30_000 }),
      wallStepMs: fc.constantFrom(0, -2_000, 2_000, -3_600_000, 3_600_000),
      candidate: fc.nat(CANDIDATES - 1),
      what: fc.constantFrom('nothing', 'isolate', 'restart'),
    }),
    { minLength: 3, maxLength: 12 },
  ),
  tidings: fc.array(fc.oneof(fc.constantFrom(0, 20, null), fc.nat(25_000)), { maxLength: 10 }),
  rates: fc.array(fc.double({ min: 0.85, max: 1.2, noNaN: true }), { minLength: CANDIDATES, maxLength: CANDIDATES }),
})

interface Seat {
  elector: LeaderElector
  isIsolated: boolean
  isActing: boolean
}

async function endure(environment: Environment, seen: { terms: number; handovers: number; lost: number }): Promise<void> {
  const clock = new FakeClock()
  const server = createLeaseServer(clock)
  const { tidings } = environment
  let journeys = 0
  let reported = 0
  let isQuiescent = false
  let lastLeader = -1
  const seats: Seat[] = []
  const seat = (index: number, life: number): Seat => {
    const journey = (): Journey => {
      if (isQuiescent) return faultlessJourney
      return self.isIsolated
        ? { ...faultlessJourney, result: 'requestLost' }
        : environment.journeys[journeys++ % environment.journeys.length]!
    }
    const elector = createLeaderElector({
      port: server.connect(journey),
      ...(tidings.length > 0 && { watch: server.watchedWith(() => (self.isIsolated ? null : tidings[reported++ % tidings.length]!)) }),
      identity: `candidate-${index}-${life}`,
      clock: driftingClock(clock, environment.rates[index]!),
      log: silentLogger,
      onStarted(signal) {
        self.isActing = true
        seen.terms++
        if (lastLeader !== -1 && lastLeader !== index) seen.handovers++
        lastLeader = index
        signal.addEventListener('abort', () => {
          self.isActing = false
          seen.lost++
        })
        expectOneLeader(seats)
      },
      onStopped: () => sleep(clock, 1_500),
    })
    const self: Seat = { elector, isIsolated: false, isActing: false }
    elector.start()
    return self
  }
  for (let index = 0; index < CANDIDATES; index++) seats.push(seat(index, 0))
  for (const [life, spell] of environment.spells.entries()) {
    clock.stepWall(spell.wallStepMs)
    for (const each of seats) each.isIsolated = false
    if (spell.what === 'isolate') seats[spell.candidate]!.isIsolated = true
    if (spell.what === 'restart') {
      void seats[spell.candidate]!.elector.stop()
      seats[spell.candidate] = seat(spell.candidate, life + 1)
    }
    await watch(clock, spell.ms, seats)
  }
  isQuiescent = true
  await watch(clock, 60_000, seats)
  expect(seats.filter((each) => each.elector.isLeader())).toHaveLength(1)
  for (const each of seats) void each.elector.stop()
  await clock.advanceAsync(60_000)
  expect(seats.some((each) => each.elector.isLeader() || each.isActing)).toBe(false)
}

async function watch(clock: FakeClock, ms: number, seats: readonly Seat[]): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 500) {
    await clock.advanceAsync(Math.min(500, ms - passedMs))
    expectOneLeader(seats)
    for (const each of seats) if (each.elector.isLeader()) expect(each.isActing).toBe(true)
    // At the moment at which a term ends there is no leader, and the timer that reports this may be about to fire.
    if (seats.some((each) => each.isActing && !each.elector.isLeader())) await clock.advanceAsync(1)
    for (const each of seats) expect(each.elector.isLeader()).toBe(each.isActing)
  }
}

function expectOneLeader(seats: readonly Seat[]): void {
  expect(seats.filter((each) => each.elector.isLeader()).length).toBeLessThanOrEqual(1)
  expect(seats.filter((each) => each.isActing).length).toBeLessThanOrEqual(1)
}

/** The same world, by a monotonic clock that runs at `rate` of its pace. */
function driftingClock(clock: Clock, rate: number): Clock {
  return {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs() * rate,
    setTimer: (delayMs, callback) => clock.setTimer(delayMs / rate, callback),
  }
}
