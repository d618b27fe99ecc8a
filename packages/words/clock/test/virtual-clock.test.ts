import { sleep, VirtualClock } from '@tranche/clock'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe('VirtualClock', () => {
  it('jumps from timer to timer and ends idle when none is left', async () => {
    const clock = new VirtualClock(5_000)
    const firedMs: number[] = []
    for (const delayMs of [3_600_000, 10]) clock.setTimer(delayMs, () => firedMs.push(clock.monotonicMs()))
    expect(await clock.run()).toBe('idle')
    expect(firedMs).toEqual([10, 3_600_000])
    expect(clock.nowMs()).toBe(3_605_000)
  })

  it('fires timers of one moment in the order in which they were set', async () => {
    const clock = new VirtualClock()
    const fired: string[] = []
    for (const name of ['a', 'b', 'c', 'd', 'e']) clock.setTimer(10, () => fired.push(name))
    await clock.run()
    expect(fired).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  it('lets promises settle before it jumps', async () => {
    const clock = new VirtualClock()
    const moments: number[] = []
    const walk = async (): Promise<void> => {
      for (let step = 0; step < 3; step++) {
        await sleep(clock, 10)
        for (let turns = 0; turns < 50; turns++) await Promise.resolve()
        moments.push(clock.monotonicMs())
      }
    }
    const walking = walk()
    clock.setTimer(1_000, () => {})
    await clock.run()
    await walking
    expect(moments).toEqual([10, 20, 30])
  })

  it('fires no cancelled timer, and is idle if all timers are cancelled', async () => {
    const clock = new VirtualClock()
    let fired = 0
    const timers = [10, 20].map((delayMs) => clock.setTimer(delayMs, () => fired++))
    for (const timer of timers) timer.cancel()
    expect(await clock.run()).toBe('idle')
    expect([fired, clock.monotonicMs()]).toEqual([0, 0])
  })

  it('does not move while it is held', async () => {
    const clock = new VirtualClock()
    const release = [clock.hold(), clock.hold()]
    const seenMs: number[] = []
    let turns = 0
    clock.setTimer(10, () => {})
    const done = (): boolean => {
      seenMs.push(clock.monotonicMs())
      turns++
      if (turns === 3) release[0]!()
      if (turns === 4) release[0]!()
      if (turns === 6) release[1]!()
      return clock.monotonicMs() > 0
    }
    expect(await clock.run({ done })).toBe('done')
    expect(seenMs).toEqual([0, 0, 0, 0, 0, 0, 10])
  })

  it('stops as soon as its caller is done, and can run again later', async () => {
    const clock = new VirtualClock()
    const firedMs: number[] = []
    for (const delayMs of [10, 20, 30]) clock.setTimer(delayMs, () => firedMs.push(clock.monotonicMs()))
    expect(await clock.run({ done: () => firedMs.length === 2 })).toBe('done')
    expect(firedMs).toEqual([10, 20])
    expect(await clock.run()).toBe('idle')
    expect(firedMs).toEqual([10, 20, 30])
  })

  it('stops at the given time and leaves later timers pending', async () => {
    const clock = new VirtualClock()
    const firedMs: number[] = []
    for (const delayMs of [10, 20, 30]) clock.setTimer(delayMs, () => firedMs.push(clock.monotonicMs()))
    expect(await clock.run({ untilMs: 25 })).toBe('time')
    expect([firedMs, clock.monotonicMs()]).toEqual([[10, 20], 25])
    expect(await clock.run({ untilMs: 30 })).toBe('idle')
    expect(firedMs).toEqual([10, 20, 30])
  })

  it('rejects a concurrent run, and runs again after an error of a timer', async () => {
    const clock = new VirtualClock()
    clock.setTimer(10, () => {
      throw new Error('from a timer')
    })
    const running = clock.run()
    await expect(clock.run()).rejects.toThrow('already running')
    await expect(running).rejects.toThrow('from a timer')
    expect(await clock.run()).toBe('idle')
  })

  it('fires timers in order of due time, then of creation, whatever is set and cancelled', async () => {
    const timersArbitrary = fc.array(fc.record({ delayMs: fc.nat(30), isCancelled: fc.boolean() }), { maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(timersArbitrary, async (timers) => {
        const clock = new VirtualClock()
        const fired: number[] = []
        const set = timers.map(({ delayMs }, index) => clock.setTimer(delayMs, () => fired.push(index)))
        for (const [index, timer] of timers.entries()) if (timer.isCancelled) set[index]!.cancel()
        await clock.run()
        const standing = timers.map((timer, index) => ({ ...timer, index })).filter((timer) => !timer.isCancelled)
        expect(fired).toEqual(standing.toSorted((a, b) => a.delayMs - b.delayMs || a.index - b.index).map((timer) => timer.index))
      }),
      { numRuns: 50 },
    )
  })
})
