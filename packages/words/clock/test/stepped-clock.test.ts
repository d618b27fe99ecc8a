import { createSteppedClock, FakeClock } from '@tranche/clock'
import { expect, it } from 'vitest'

it('steps wall time in both directions and leaves monotonic time and timers alone', () => {
  const base = new FakeClock(1_000_000)
  const clock = createSteppedClock(base)
  let fired = 0
  clock.setTimer(100, () => fired++)
  clock.stepWall(60_000)
  expect([clock.nowMs(), clock.monotonicMs(), base.nowMs()]).toEqual([1_060_000, 0, 1_000_000])
  base.advance(99)
  clock.stepWall(-3_600_000)
  expect([clock.nowMs(), clock.monotonicMs(), fired]).toEqual([1_000_000 + 60_000 - 3_600_000 + 99, 99, 0])
  base.advance(1)
  expect(fired).toBe(1)
})
