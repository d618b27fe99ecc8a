import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Line, openQueue, quick, recordWork } from './queue-bench.ts'
import { isRedisMissing, startTestRedis, type TestRedis } from './redis.ts'

describe.skipIf(isRedisMissing)('the queue, beside another writer of Redis', () => {
  it.each(['x', '-9000000000000000000', '9223372036854775807'])(
    'counts the failures of a key from one again after %s',
    async (failures) => {
      const redis = await testRedis()
      const queue = openQueue(redis.settings, 'broken', { timing: quick })
      await redis.admin.hset('broken:jobs:failures', 'ns/a', failures)
      const worked = recordWork(async (key) => {
        if (key === 'ns/a') throw new Error('a passing fault')
        return { kind: 'awaitChange' }
      })
      queue.process(worked.handler, { concurrency: 1 })
      await queue.enqueue('ns/a')
      await until(async () => (await redis.admin.hget('broken:jobs:failures', 'ns/a')) === '2')
      await queue.enqueue('ns/b')
      await until(() => worked.keys.includes('ns/b'))
    },
  )

  it.each(['due', 'failures'])('deletes a broken %s, names it in the log, and continues', async (item) => {
    const redis = await testRedis()
    const lines: Line[] = []
    const queue = openQueue(redis.settings, 'broken', { timing: quick, lines })
    const worked = recordWork(async (key) => {
      await redis.admin.set(`broken:jobs:${item}`, 'x')
      return key === 'c' ? { kind: 'awaitChange' } : { kind: 'recheckAfter', ms: 60_000 }
    })
    queue.process(worked.handler, { concurrency: 1 })
    for (const key of ['a', 'b', 'c']) await queue.enqueue(key)
    await until(() => worked.keys.includes('c'))
    expect(lines).toContainEqual({
      level: 'warn',
      fields: { keys: [`broken:jobs:${item}`] },
      message: 'deleted keys of the wrong type from Redis; another client wrote them',
    })
  })

  it.each(['wait', 'active', 'stalled', 'marker', 'meta', 'id', 'delayed', 'prioritized', 'paused', 'de:/a', 'dn:/a', 'stalled-check'])(
    'works on a key that is enqueued again after %s was replaced',
    async (item) => {
      const redis = await testRedis()
      const queue = openQueue(redis.settings, 'broken', { timing: quick })
      const worked = recordWork()
      queue.process(worked.handler, { concurrency: 1 })
      await queue.enqueue('before')
      await until(() => worked.keys.includes('before'))
      const name = `broken:jobs:${item}`
      // In one transaction: the worker may write the key in between.
      const replaced = redis.admin.multi().del(name)
      if (item === 'id') replaced.set(name, 'x')
      else if (item === 'meta' || item === 'dn:/a') replaced.lpush(name, 'x')
      else replaced.hset(name, 'x', 'x')
      await replaced.exec()
      while (!worked.keys.includes('a')) {
        await queue.enqueue('a').catch(() => {})
        await wait(100)
      }
    },
  )

  it('forgets due members that are no keys', async () => {
    const redis = await testRedis()
    await redis.admin.zadd('broken:jobs:due', 0, 'x'.repeat(600), 1, Buffer.from([0x61, 0xff]), 2, 'a')
    const queue = openQueue(redis.settings, 'broken', { timing: quick })
    const worked = recordWork()
    queue.process(worked.handler, { concurrency: 1 })
    await until(async () => worked.keys.length > 0 && (await redis.admin.zcard('broken:jobs:due')) === 0)
    expect(worked.keys).toEqual(['a'])
  })
})

async function testRedis(): Promise<TestRedis> {
  const redis = await startTestRedis()
  onTestFinished(() => redis.dispose())
  return redis
}

/** Looks every few milliseconds; the time limit is that of the test. */
async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(10)
}
