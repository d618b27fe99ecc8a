import { Queue } from 'bullmq'
import { expect, it, onTestFinished } from 'vitest'
import { openQueue, quick, recordWork } from './queue-bench.ts'
import { isRedisMissing, startTestRedis } from './redis.ts'

const spoilt: readonly unknown[] = [
  null,
  1,
  'x',
  [],
  { key: 1 },
  { key: null },
  { key: {} },
  { key: ['a'] },
  { key: 'x'.repeat(1_000_000) },
  JSON.parse('{"__proto__": {"key": "forged"}}'),
]

it.skipIf(isRedisMissing)('jobs corrupted by another writer of Redis reach no handler, and later jobs are processed', async () => {
  const redis = await startTestRedis()
  onTestFinished(() => redis.dispose())
  const writer = new Queue('jobs', { prefix: 'hostile', connection: { host: '127.0.0.1', port: redis.port } })
  onTestFinished(() => writer.close())
  const queue = openQueue(redis.settings, 'hostile', { timing: quick })
  const worked = recordWork()
  queue.process(worked.handler, { concurrency: 1 })
  for (const data of spoilt) await writer.add('job', data)
  await writer.add('job', { key: 'a' }, { jobId: 'broken' })
  await redis.admin.hset('hostile:jobs:broken', 'data', '{not json')
  await redis.admin.lpush('hostile:jobs:wait', 'ghost', '__proto__', 'constructor')
  // The job of `a` may be worked on before it is broken.
  const [first, second] = [worked.next(), worked.next()]
  await queue.enqueue('good')
  expect((await first) === 'a' ? await second : await first).toBe('good')
  expect(worked.keys.filter((key) => key !== 'a')).toEqual(['good'])
})
