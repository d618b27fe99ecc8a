import { FakeClock, sleep } from '@tranche/clock'
import { describe, expect, it } from 'vitest'

describe('sleep', () => {
  it('resolves after the delay and not before', async () => {
    const clock = new FakeClock()
    let isAwake = false
    const sleeping = sleep(clock, 100).then(() => (isAwake = true))
    await clock.advanceAsync(99)
    expect(isAwake).toBe(false)
    await clock.advanceAsync(1)
    expect(isAwake).toBe(true)
    await sleeping
  })

  it('rejects with the reason as soon as the signal aborts, and leaves no timer', async () => {
    const clock = new FakeClock()
    const controller = new AbortController()
    const sleeping = sleep(clock, 100, controller.signal)
    controller.abort(new Error('enough'))
    await expect(sleeping).rejects.toThrow('enough')
    expect(clock.pendingTimers).toBe(0)
  })

  it('rejects at once if the signal is already aborted, and sets no timer', async () => {
    const clock = new FakeClock()
    await expect(sleep(clock, 100, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late')
    expect(clock.pendingTimers).toBe(0)
  })

  it('ignores an abort after it has resolved', async () => {
    const clock = new FakeClock()
    const controller = new AbortController()
    const sleeping = sleep(clock, 100, controller.signal)
    await clock.advanceAsync(100)
    controller.abort(new Error('too late'))
    await expect(sleeping).resolves.toBeUndefined()
  })
})
