import { systemClock } from '@tranche/clock'
import { createBullmqQueue } from '@tranche/queue-bullmq'
import { Queue } from 'bullmq'
import { afterEach, expect, it } from 'vitest'
import { isRedisMissing, startTestRedis, type TestRedis } from './redis.ts'

let redis: TestRedis | undefined
afterEach(() => redis?.dispose())

it.skipIf(isRedisMissing)(
  'processes a job of another version, whatever it contains besides the key, and skips one without a key',
  async () => {
    redis = await startTestRedis()
    const theirs = new Queue('jobs', { connection: redis.admin, prefix: 'test', skipVersionCheck: true })
    await theirs.add('pass', { tomorrow: 'x' })
    await theirs.add('pass', { key: 'demo/agent', tomorrow: { batch: 3 } })
    const ours = createBullmqQueue({ redis: redis.settings, clock: systemClock, prefix: 'test' })
    const { promise, resolve } = Promise.withResolvers<string>()
    ours.process(
      async (key) => {
        resolve(key)
        return { kind: 'awaitChange' }
      },
      { concurrency: 1 },
    )
    expect(await promise).toBe('demo/agent')
    await ours.close(1_000)
    await theirs.close()
  },
)
