import { systemClock } from '@tranche/clock'
import { silentLogger } from '@tranche/telemetry'
import { createEnqueuer, type JobHandler, type JobOutcome } from '@tranche/queue'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startProxy } from './cuttable-proxy.ts'
import { type Line, openQueue, quick, recordWork } from './queue-bench.ts'
import { isRedisMissing, plainSettings, startTestRedis, type TestRedis } from './redis.ts'

describe.skipIf(isRedisMissing)('the queue, when Redis', () => {
  it('is killed and comes back empty: refuses enqueues meanwhile, then resumes by itself, and logs two lines', async () => {
    const redis = await testRedis()
    const { queue, worked, lines, enqueuer } = bench(redis)
    const first = worked.next()
    enqueuer.enqueue('before')
    await first
    const second = worked.next()
    await redis.kill()
    await expect(queue.enqueue('refused')).rejects.toMatchObject({ code: 'REDIS_UNREACHABLE' })
    enqueuer.enqueue('meanwhile')
    await redis.start()
    await expect(second).resolves.toBe('meanwhile')
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'info'])
    expect(lines[0]).toMatchObject({
      fields: { code: 'REDIS_UNREACHABLE' },
      message: expect.stringContaining('jobs wait until it is back'),
    })
    expect(lines[1]).toMatchObject({ message: 'Redis is back', fields: { awayMs: expect.any(Number) } })
  })

  it('is unavailable at the start: waits for it, and logs that once', async () => {
    const redis = await testRedis()
    await redis.kill()
    const { worked, lines, enqueuer } = bench(redis)
    const first = worked.next()
    enqueuer.enqueue('early')
    await until(() => lines.length > 0)
    await redis.start()
    await expect(first).resolves.toBe('early')
    expect(lines.map(({ message }) => message)).toEqual([expect.stringContaining('lost Redis'), 'Redis is back'])
  })

  it('answers the worker first, and the other connection of its process later: a run has its trace (Q9)', async () => {
    const redis = await testRedis()
    const held = Promise.withResolvers<void>()
    const proxy = await startProxy(redis.port, held.promise)
    onTestFinished(() => proxy.close())
    await openQueue(redis.settings, 'late', { withTraces: true }).enqueue('a', 'trace-a')
    const queue = openQueue(plainSettings(proxy.port), 'late', { withTraces: true })
    const run = Promise.withResolvers<string | undefined>()
    const handler: JobHandler = async (_key, _signal, note) => {
      run.resolve(note?.trace)
      return { kind: 'awaitChange' }
    }
    queue.process(handler, { concurrency: 1 })
    await until(async () => (await redis.admin.llen('late:jobs:active')) === 1)
    held.resolve()
    await expect(run.promise).resolves.toBe('trace-a')
  })

  it('stops answering without closing a connection: refuses enqueues in time, and resumes when it answers', async () => {
    const redis = await testRedis()
    const { queue, worked, lines, enqueuer } = bench(redis)
    await queue.stats()
    redis.freeze()
    const first = worked.next()
    await expect(queue.enqueue('refused')).rejects.toMatchObject({ code: 'REDIS_UNREACHABLE' })
    enqueuer.enqueue('meanwhile')
    await until(() => lines.length > 0)
    redis.thaw()
    await expect(first).resolves.toMatch(/refused|meanwhile/)
    await until(() => worked.keys.includes('meanwhile'))
  })

  it('is unreachable while a job runs: keeps the key until the end of the job is recorded, then releases it', async () => {
    const redis = await testRedis()
    const proxy = await startProxy(redis.port)
    onTestFinished(() => proxy.close())
    const ends: ((outcome: JobOutcome) => void)[] = []
    const lines: Line[] = []
    const queue = openQueue(plainSettings(proxy.port), 'cut', { lines, timing: quick })
    const worked = recordWork(() => new Promise((resolve) => ends.push(resolve)))
    queue.process(worked.handler, { concurrency: 1 })
    const first = worked.next()
    await queue.enqueue('a')
    await first
    await queue.enqueue('a')
    proxy.cut()
    await until(() => lines.length > 0)
    ends[0]?.({ kind: 'recheckAfter', ms: 60_000 })
    await expect(queue.enqueue('b')).rejects.toMatchObject({ code: 'REDIS_UNREACHABLE' })
    const second = worked.next()
    proxy.restore()
    await expect(second).resolves.toBe('a')
    ends[1]?.({ kind: 'awaitChange' })
    const third = worked.next()
    await queue.enqueue('b')
    await expect(third).resolves.toBe('b')
    ends[2]?.({ kind: 'awaitChange' })
  })

  it('is emptied while a job runs: the job ends, and the next enqueue of its key is processed', async () => {
    const redis = await testRedis()
    let end = (_outcome: JobOutcome): void => {}
    const queue = openQueue(redis.settings, 'flushed', { timing: { lockMs: 60_000 } })
    const worked = recordWork(() => new Promise((resolve) => (end = resolve)))
    queue.process(worked.handler, { concurrency: 1 })
    for (let round = 0; round < 3; round++) {
      const next = worked.next()
      await queue.enqueue('a')
      await next
      await queue.enqueue('a')
      await queue.enqueueAfter('a', 10_000)
      await redis.admin.flushall()
      end({ kind: 'awaitChange' })
      await until(async () => (await queue.stats()).active === 0)
    }
    expect(worked.keys).toEqual(['a', 'a', 'a'])
  })

  it('is a replica for a while: logs that, and resumes when Redis accepts writes again', async () => {
    const redis = await testRedis()
    const { queue, worked, lines, enqueuer } = bench(redis)
    await queue.stats()
    await redis.admin.replicaof('127.0.0.1', 1)
    await expect(queue.enqueue('refused')).rejects.toMatchObject({ code: 'REDIS_UNSUITABLE' })
    await until(() => lines.some(({ fields }) => String(fields['why']).includes('is a replica')))
    const next = worked.next()
    enqueuer.enqueue('meanwhile')
    const connections = async (): Promise<number> => Number(/total_connections_received:(\d+)/.exec(await redis.admin.info('stats'))?.[1])
    const before = await connections()
    await until(async () => (await connections()) > before + 2)
    await redis.admin.replicaof('NO', 'ONE')
    await expect(next).resolves.toBe('meanwhile')
    await until(() => lines.some(({ message }) => message === 'Redis is back'))
    expect(lines.filter(({ message }) => /cannot use Redis|lost Redis|is back/.test(message)).length).toBeLessThanOrEqual(3)
  })

  it('is out of memory: pauses between attempts, and resumes when it has memory', async () => {
    const redis = await testRedis()
    const queue = openQueue(redis.settings, 'full', { timing: quick })
    await queue.enqueue('a')
    await redis.admin.config('SET', 'maxmemory', '1')
    const worked = recordWork()
    const next = worked.next()
    queue.process(worked.handler, { concurrency: 1 })
    await expect(queue.enqueue('b')).rejects.toMatchObject({ code: 'REDIS_UNSUITABLE' })
    const uptime = async (): Promise<number> => Number(/uptime_in_seconds:(\d+)/.exec(await redis.admin.info('server'))?.[1])
    const start = await uptime()
    const before = await scriptsOf(redis)
    await until(async () => (await uptime()) >= start + 3)
    expect((await scriptsOf(redis)) - before).toBeLessThan(50)
    await redis.admin.config('SET', 'maxmemory', '0')
    await expect(next).resolves.toBe('a')
  })

  const lost = ['wait', 'active', 'job', 'lock', 'deduplication'] as const
  it.each(lost)('loses one key of a job (%s) and keeps the others: the next enqueue is processed', async (part) => {
    const redis = await testRedis()
    const queue = openQueue(redis.settings, 'hole', { timing: quick })
    await queue.enqueue('a')
    const end = Promise.withResolvers<JobOutcome>()
    const worked = recordWork(() => end.promise)
    const start = (): void => void queue.process(worked.handler, { concurrency: 4 })
    const id = await redis.admin.get('hole:jobs:de:/a')
    const names = { wait: 'wait', active: 'active', job: id, lock: `${id}:lock`, deduplication: 'de:/a' }
    if (part === 'active' || part === 'lock') start()
    await until(() => (part === 'active' || part === 'lock' ? worked.keys.length > 0 : true))
    expect(await redis.admin.del(`hole:jobs:${names[part]}`)).toBe(1)
    if (part !== 'active' && part !== 'lock') start()
    end.resolve({ kind: 'awaitChange' })
    await until(async () => (await redis.admin.llen('hole:jobs:active')) === 0)
    const before = worked.keys.length
    await queue.enqueue('a')
    await until(() => worked.keys.length > before)
    expect(new Set(worked.keys)).toEqual(new Set(['a']))
  })

  it('may evict jobs: logs that, and continues', async () => {
    const redis = await testRedis(['--maxmemory-policy', 'allkeys-lru'])
    const { worked, lines, enqueuer } = bench(redis)
    const first = worked.next()
    enqueuer.enqueue('a')
    await first
    await until(() => lines.length > 0)
    expect(lines).toMatchObject([
      { level: 'warn', fields: { maxmemoryPolicy: 'allkeys-lru', hint: 'Set maxmemory-policy to noeviction.' } },
    ])
  })
})

async function testRedis(args: readonly string[] = []): Promise<TestRedis> {
  const redis = await startTestRedis({ args })
  onTestFinished(() => redis.dispose())
  return redis
}

function bench(redis: TestRedis) {
  const lines: Line[] = []
  const queue = openQueue(redis.settings, 'test', { lines, timing: quick })
  const worked = recordWork()
  queue.process(worked.handler, { concurrency: 1 })
  const enqueuer = createEnqueuer({ queue, clock: systemClock, log: silentLogger })
  onTestFinished(() => enqueuer.stop())
  return { queue, worked, lines, enqueuer }
}

/** Number of scripts that were run; each request of a worker is one. */
async function scriptsOf({ admin }: TestRedis): Promise<number> {
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0)
}

/** Looks every few milliseconds; the time limit is that of the test. */
async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => systemClock.setTimer(5, () => resolve(undefined)))
}
