import { createSteppedClock, FakeClock, systemClock, VirtualClock } from '@tranche/clock'
import { describe, expect, it } from 'vitest'

describe.each([
  ['the system clock', systemClock],
  ['the fake clock', new FakeClock()],
  ['the virtual clock', new VirtualClock()],
  ['a stepped clock', createSteppedClock(new FakeClock())],
])('%s', (_name, clock) => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])('refuses a timer with a delay of %s', (delayMs) => {
    expect(() => clock.setTimer(delayMs, () => {})).toThrow(`the delay of a timer is ${delayMs}; use a finite number of milliseconds`)
  })
})
