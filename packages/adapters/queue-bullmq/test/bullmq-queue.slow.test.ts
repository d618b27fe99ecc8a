import { setTimeout as pass } from 'node:timers/promises'
import { systemClock } from '@tranche/clock'
import { createBullmqQueue } from '@tranche/queue-bullmq'
import { describeJobQueue } from '@tranche/queue-conformance'
import { afterAll, beforeAll, describe } from 'vitest'
import { isRedisMissing, startTestRedis, type TestRedis } from './redis.ts'

describe.skipIf(isRedisMissing)('on a real Redis', () => {
  let redis: TestRedis
  beforeAll(async () => {
    redis = await startTestRedis()
  })
  afterAll(() => redis.dispose())

  let queues = 0

  describeJobQueue('the queue on Redis', async () => {
    const prefix = `test-${++queues}`
    const options = { redis: redis.settings, clock: systemClock, prefix, backOffBaseMs: 150, backOffMaxMs: 600, withTraces: true }
    const producer = createBullmqQueue(options)
    const consumer = createBullmqQueue(options)
    const settle = (): Promise<void> => untilQuiet(redis, prefix)
    return {
      producer,
      consumer,
      async advance(ms) {
        await pass(ms)
        await settle()
      },
      settle,
      latenessMs: 200,
      retryWithinMs: 800,
      async dispose() {
        await Promise.all([producer.close(0), consumer.close(0)])
      },
    }
  })
})

/**
 * Looks again and again, each look a round trip, until nothing has moved for a while. Where a job waits for a worker, it looks longer: on a busy
 * machine a worker may take it late. It may also wait because all workers are busy.
 */
async function untilQuiet({ admin }: TestRedis, prefix: string): Promise<void> {
  const key = (name: string): string => `${prefix}:jobs:${name}`
  let before = ''
  let isWaiting = false
  for (let unchanged = 0; unchanged < (isWaiting ? 40 : 6); ) {
    const reads = admin.pipeline().lrange(key('wait'), 0, -1).lrange(key('active'), 0, -1).zrange(key('due'), '0', '-1').get(key('id'))
    const answers = (await reads.exec()) ?? []
    const now = JSON.stringify(answers)
    isWaiting = (answers[0]?.[1] as readonly string[] | undefined)?.length !== 0
    unchanged = now === before ? unchanged + 1 : 0
    before = now
    await pass(2)
  }
}
