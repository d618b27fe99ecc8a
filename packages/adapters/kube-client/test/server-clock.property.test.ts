import { FakeClock } from '@tranche/clock'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createServerClock } from '../src/index.ts'
import { HOUR, request, serverOn, signal } from './timed-server.ts'

it('a clock that shows the API server’s time is at most one second and the time of an answer away from it, whatever the skew (F14)', () => {
  const skews = fc.integer({ min: -24 * HOUR, max: 24 * HOUR })
  const answers = fc.array(fc.record({ afterMs: fc.nat(5_000), takesMs: fc.nat(3_000) }), { minLength: 1, maxLength: 30 })
  return fc.assert(
    fc.asyncProperty(skews, answers, async (aheadMs, sent) => {
      const own = new FakeClock()
      const clock = createServerClock(own)
      const { server, exchange, trueMs } = serverOn(own, { aheadMs })
      const send = clock.follow(exchange)
      for (const { afterMs, takesMs } of sent) {
        own.advance(afterMs)
        server.takesMs = takesMs
        await send(request, signal)
      }
      const fastestMs = Math.min(...sent.map(({ takesMs }) => takesMs))
      expect(Math.abs(clock.nowMs() - trueMs())).toBeLessThanOrEqual(1_000 + fastestMs)
    }),
  )
})
