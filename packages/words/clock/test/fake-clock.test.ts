import { FakeClock, sleep } from '@tranche/clock'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe('FakeClock', () => {
  it('stays at its time until it is advanced', () => {
    const clock = new FakeClock(5_000)
    expect([clock.nowMs(), clock.monotonicMs()]).toEqual([5_000, 0])
    clock.advance(7)
    expect([clock.nowMs(), clock.monotonicMs()]).toEqual([5_007, 7])
  })

  it('fires timers at their own moments, in order of due time, then of creation', () => {
    const clock = new FakeClock()
    const fired: string[] = []
    for (const [name, delayMs] of [
      ['late', 30],
      ['early', 10],
      ['also early', 10],
      ['beyond', 41],
    ] as const)
      clock.setTimer(delayMs, () => fired.push(`${name} at ${clock.monotonicMs()}`))
    clock.advance(40)
    expect(fired).toEqual(['early at 10', 'also early at 10', 'late at 30'])
    expect([clock.monotonicMs(), clock.pendingTimers]).toEqual([40, 1])
  })

  it('fires a timer that a timer sets, when it is due in the same advance', () => {
    const clock = new FakeClock()
    const firedMs: number[] = []
    const again = (): void => {
      firedMs.push(clock.monotonicMs())
      clock.setTimer(10, again)
    }
    again()
    clock.advance(25)
    expect(firedMs).toEqual([0, 10, 20])
  })

  it('treats a delay below 0 as 0, and fires at the next advance', () => {
    const clock = new FakeClock()
    let fired = 0
    clock.setTimer(-5, () => fired++)
    expect(fired).toBe(0)
    clock.advance(0)
    expect(fired).toBe(1)
  })

  it('fires no cancelled timer, even if an earlier timer of the same moment cancelled it', () => {
    const clock = new FakeClock()
    const fired: string[] = []
    clock.setTimer(10, () => second.cancel())
    const second = clock.setTimer(10, () => fired.push('second'))
    const third = clock.setTimer(10, () => fired.push('third'))
    clock.advance(10)
    third.cancel()
    expect(fired).toEqual(['third'])
  })

  it('steps wall time in either direction without moving monotonic time or firing timers', () => {
    const clock = new FakeClock(1_000_000)
    let fired = 0
    clock.setTimer(10, () => fired++)
    clock.stepWall(-60_000)
    expect([clock.nowMs(), clock.monotonicMs(), fired]).toEqual([940_000, 0, 0])
    clock.stepWall(120_000)
    expect([clock.nowMs(), clock.monotonicMs(), fired]).toEqual([1_060_000, 0, 0])
  })

  it('advanceAsync also fires timers that promises set after a timer', async () => {
    const clock = new FakeClock()
    const moments: number[] = []
    const walk = async (): Promise<void> => {
      for (let step = 0; step < 3; step++) {
        await sleep(clock, 10)
        moments.push(clock.monotonicMs())
      }
    }
    const walking = walk()
    await clock.advanceAsync(30)
    await walking
    expect(moments).toEqual([10, 20, 30])
  })

  it('fires every timer exactly once, in order, however time is split into advances', () => {
    const piecesArbitrary = fc.array(fc.nat(20), { maxLength: 30 })
    fc.assert(
      fc.property(fc.array(fc.nat(100), { maxLength: 20 }), piecesArbitrary, (delaysMs, piecesMs) => {
        const clock = new FakeClock()
        const firedMs: number[] = []
        for (const delayMs of delaysMs) clock.setTimer(delayMs, () => firedMs.push(clock.monotonicMs()))
        for (const pieceMs of piecesMs) clock.advance(pieceMs)
        const due = delaysMs.filter((delayMs) => delayMs <= clock.monotonicMs() && piecesMs.length > 0)
        expect(firedMs).toEqual(due.toSorted((a, b) => a - b))
      }),
    )
  })
})
