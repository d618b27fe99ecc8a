import { systemClock } from '@tranche/clock'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

const DAY_MS = 86_400_000

describe('systemClock', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_700_000_000_000 }))
  afterEach(() => void vi.useRealTimers())

  it('reads the wall clock of the machine', () => {
    expect(systemClock.nowMs()).toBe(1_700_000_000_000)
    vi.setSystemTime(1_600_000_000_000)
    expect(systemClock.nowMs()).toBe(1_600_000_000_000)
  })

  it('reads a monotonic clock that moves with time', () => {
    const startMs = systemClock.monotonicMs()
    vi.advanceTimersByTime(250)
    expect(systemClock.monotonicMs() - startMs).toBe(250)
  })

  it('fires a timer once, after its delay and not before', () => {
    const callback = vi.fn<() => void>()
    systemClock.setTimer(100, callback)
    vi.advanceTimersByTime(99)
    expect(callback).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1_000)
    expect(callback).toHaveBeenCalledOnce()
  })

  it('fires no cancelled timer', () => {
    const callback = vi.fn<() => void>()
    systemClock.setTimer(100, callback).cancel()
    vi.advanceTimersByTime(1_000)
    expect(callback).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('supports delays longer than the maximum of Node', () => {
    const callback = vi.fn<() => void>()
    const other = vi.fn<() => void>()
    systemClock.setTimer(60 * DAY_MS, callback)
    const cancelled = systemClock.setTimer(60 * DAY_MS, other)
    vi.advanceTimersByTime(30 * DAY_MS)
    cancelled.cancel()
    vi.advanceTimersByTime(30 * DAY_MS - 1)
    expect(callback).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(callback).toHaveBeenCalledOnce()
    expect(other).not.toHaveBeenCalled()
  })
})
