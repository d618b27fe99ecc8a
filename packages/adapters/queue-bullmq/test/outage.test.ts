import { FakeClock, systemClock } from '@tranche/clock'
import { silentLogger } from '@tranche/telemetry'
import { createEnqueuer } from '@tranche/queue'
import { createBullmqQueue } from '@tranche/queue-bullmq'
import { expect, it, vi } from 'vitest'
import { isRedisMissing, plainSettings, startTestRedis } from './redis.ts'

it.skipIf(isRedisMissing)('enqueuer on a stopped Redis reports the outage until Redis is back', async () => {
  const redis = await startTestRedis()
  const { port } = redis
  const queue = createBullmqQueue({ redis: plainSettings(port), clock: systemClock, prefix: 'test' })
  const clock = new FakeClock()
  let back: Awaited<ReturnType<typeof startTestRedis>> | undefined
  const enqueuer = createEnqueuer({ queue, clock, log: silentLogger })
  try {
    await queue.enqueue('demo/agent')
    await redis.dispose()
    enqueuer.enqueue('demo/agent')
    // A failed attempt leaves the timer of the next one.
    const attempt = async (): Promise<void> => {
      await vi.waitUntil(() => clock.pendingTimers > 0, { timeout: 20_000, interval: 10 })
      clock.advance(1_000)
    }
    for (let second = 0; second < 12; second++) await attempt()
    await vi.waitUntil(() => enqueuer.outage() !== null, { timeout: 20_000, interval: 10 })
    expect(enqueuer.outage()).toMatch(new RegExp(`127\\.0\\.0\\.1:${port}`))
    back = await startTestRedis({ port })
    await vi.waitUntil(
      () => {
        clock.advance(1_000)
        return enqueuer.outage() === null
      },
      { timeout: 30_000, interval: 50 },
    )
  } finally {
    enqueuer.stop()
    await queue.close(0)
    await back?.dispose()
    await redis.dispose()
  }
})
