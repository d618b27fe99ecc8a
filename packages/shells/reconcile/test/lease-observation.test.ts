import { getEventListeners } from 'node:events'
import { FakeClock } from '@tranche/clock'
import type { Lease } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { createLeaseObservation } from '../src/lease-observation.ts'

describe('a Lease observed by a candidate', () => {
  it.each([
    ['the duration that its holder states', 30, 30_000],
    ['the lease duration of the candidate, if its holder states none', undefined, 15_000],
    ['five minutes, if another program states a longer duration', 2_147_483_647, 300_000],
  ])('has expired once it was seen unchanged for %s (E3)', (_how, seconds, lastsMs) => {
    const { observation, clock } = setUp()
    observation.read(leaseAt('5', seconds))
    clock.advance(lastsMs - 1)
    observation.read(leaseAt('5', seconds))
    expect(observation.hasExpired(leaseAt('5', seconds))).toBe(false)
    clock.advance(1)
    expect(observation.hasExpired(leaseAt('5', seconds))).toBe(true)
  })

  it('has not expired in an unseen version, nor when it is deleted', () => {
    const { observation, clock } = setUp()
    expect(observation.hasExpired(leaseAt('5'))).toBe(false)
    observation.read(leaseAt('5'))
    clock.advance(60_000)
    expect(observation.hasExpired(leaseAt('6'))).toBe(false)
    observation.read(null)
    expect(observation.hasExpired(leaseAt('5'))).toBe(false)
  })

  it('counts from the version that was read, even an older one, but from no older reported one', () => {
    const { observation, clock } = setUp()
    observation.read(leaseAt('50'))
    clock.advance(14_000)
    observation.observe(leaseAt('49'))
    observation.observe(leaseAt('50'))
    clock.advance(1_000)
    expect(observation.hasExpired(leaseAt('50'))).toBe(true)
    observation.read(leaseAt('9'))
    expect(observation.hasExpired(leaseAt('9'))).toBe(false)
    clock.advance(15_000)
    expect(observation.hasExpired(leaseAt('9'))).toBe(true)
  })
})

describe('the next look at a Lease', () => {
  it('comes a retry period after the last, without a watch', async () => {
    const { observation, clock, wait } = setUp({ isWatched: false })
    observation.look()
    observation.read(leaseAt('5'))
    const look = wait()
    await clock.advanceAsync(1_999)
    expect(look.hasCome).toBe(false)
    await clock.advanceAsync(1)
    expect(look.hasCome).toBe(true)
  })

  it('is postponed by a report of the watch, by 1.25 renewal periods, until the Lease expires', async () => {
    const { observation, clock, wait } = setUp()
    observation.look()
    observation.read(leaseAt('5'))
    const look = wait()
    await clock.advanceAsync(2_400)
    observation.observe(leaseAt('6'))
    await clock.advanceAsync(2_499)
    expect(look.hasCome).toBe(false)
    await clock.advanceAsync(1)
    expect(look.hasCome).toBe(true)

    observation.observe(leaseAt('7', 1))
    const next = wait()
    await clock.advanceAsync(999)
    expect(next.hasCome).toBe(false)
    await clock.advanceAsync(1)
    expect(next.hasCome).toBe(true)
  })

  it.each([
    ['it has no holder', () => leaseAt('6', 1, '')],
    ['it is gone', () => null],
  ])('comes at once after the watch reports that %s, and not before', async (_what, freed) => {
    const { observation, clock, wait } = setUp()
    observation.look()
    observation.read(leaseAt('5'))
    const look = wait()
    await clock.advanceAsync(100)
    expect(look.hasCome).toBe(false)
    observation.observe(freed())
    await clock.advanceAsync(0)
    expect(look.hasCome).toBe(true)
    // Looking answers it: the next one waits again.
    observation.look()
    const next = wait()
    await clock.advanceAsync(100)
    expect(next.hasCome).toBe(false)
  })

  it.each([
    ['comes after its delay', ({ clock }: ReturnType<typeof setUp>) => clock.advanceAsync(60_000)],
    ['is cut short', ({ abort, clock }: ReturnType<typeof setUp>) => (abort.abort(new Error('enough')), clock.advanceAsync(0))],
  ])('leaves no timer and no listener on the signal once it %s', async (_how, act) => {
    const all = setUp()
    all.observation.read(leaseAt('5'))
    const look = all.wait()
    await act(all)
    expect([look.hasCome, all.clock.pendingTimers, getEventListeners(all.abort.signal, 'abort').length]).toEqual([true, 0, 0])
    all.observation.observe(leaseAt('6'))
    expect(all.clock.pendingTimers).toBe(0)
  })

  it('comes at once for a signal that has aborted', async () => {
    const { clock, abort, wait } = setUp()
    abort.abort(new Error('enough'))
    const look = wait()
    await clock.advanceAsync(0)
    expect([look.hasCome, clock.pendingTimers]).toEqual([true, 0])
  })
})

function setUp({ isWatched = true } = {}) {
  const clock = new FakeClock()
  clock.advance(1_000_000)
  const observation = createLeaseObservation({ clock, leaseDurationMs: 15_000, retryPeriodMs: 2_000, isWatched })
  const abort = new AbortController()
  const wait = (): { hasCome: boolean } => {
    const look = { hasCome: false }
    void observation.untilNextLook(abort.signal).then(() => (look.hasCome = true))
    return look
  }
  return { clock, observation, abort, wait }
}

function leaseAt(resourceVersion: string, leaseDurationSeconds?: number, holderIdentity = 'other'): Lease {
  const spec = { holderIdentity, ...(leaseDurationSeconds !== undefined && { leaseDurationSeconds }) }
  return { metadata: { name: 'leader', namespace: 'demo', uid: 'u', resourceVersion }, spec }
}
