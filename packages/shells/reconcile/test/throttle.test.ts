import { FakeClock } from '@tranche/clock'
import { createThrottle } from '@tranche/reconcile'
import { describe, expect, it } from 'vitest'

describe('createThrottle', () => {
  it('lets the first wake through at once', () => {
    const { throttle, woken } = throttled(100)
    throttle('a')
    expect(woken).toEqual(['a@0'])
  })

  it('merges all that follow into one, at the end of the interval', () => {
    const { throttle, woken, clock } = throttled(100)
    for (let i = 0; i < 5; i++) throttle('a')
    clock.advance(99)
    throttle('a')
    expect(woken).toEqual(['a@0'])
    clock.advance(1)
    expect(woken).toEqual(['a@0', 'a@100'])
  })

  it('wakes at most once per interval, however many come', () => {
    const { throttle, woken, clock } = throttled(100)
    for (let ms = 0; ms < 250; ms += 10) {
      throttle('a')
      clock.advance(10)
    }
    expect(woken).toEqual(['a@0', 'a@100', 'a@200'])
  })

  it('does not wake a key again that was woken once', () => {
    const { throttle, woken, clock } = throttled(100)
    throttle('a')
    clock.advance(1_000)
    throttle('a')
    expect(woken).toEqual(['a@0', 'a@1000'])
  })

  it('keeps keys apart', () => {
    const { throttle, woken } = throttled(100)
    throttle('a')
    throttle('b')
    expect(woken).toEqual(['a@0', 'b@0'])
  })

  it('respects an interval of one millisecond', () => {
    const { throttle, woken } = throttled(1)
    throttle('a')
    throttle('a')
    expect(woken).toEqual(['a@0'])
  })

  it('lets every wake through without an interval', () => {
    const { throttle, woken } = throttled(0)
    throttle('a')
    throttle('a')
    expect(woken).toEqual(['a@0', 'a@0'])
  })
})

function throttled(everyMs: number): { throttle: (key: string) => void; woken: string[]; clock: FakeClock } {
  const clock = new FakeClock(0)
  const woken: string[] = []
  const throttle = createThrottle({ clock, everyMs: () => everyMs, wake: (key) => void woken.push(`${key}@${clock.monotonicMs()}`) })
  return { throttle, woken, clock }
}
