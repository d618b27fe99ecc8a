import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openQueue, quick, recordWork } from './queue-bench.ts'
import { isRedisMissing, startTestRedis, type TestRedis } from './redis.ts'

describe.skipIf(isRedisMissing)('over several processes, the queue', () => {
  let redis: TestRedis
  let prefixes = 0
  const newPrefix = (): string => `processes-${++prefixes}`
  beforeAll(async () => {
    redis = await startTestRedis()
  })
  afterAll(() => redis.dispose())

  it('gives the key of a frozen worker to another, and aborts the first when it resumes', async () => {
    const prefix = newPrefix()
    const first = startWorker(redis, prefix)
    const queue = openQueue(redis.settings, prefix, { timing: quick })
    await queue.enqueue('a')
    await first.event('started')
    // On a busy machine its lock runs out before it is frozen.
    const aborted = first.event('aborted')
    const second = recordWork()
    queue.process(second.handler, { concurrency: 1 })
    const taken = second.next()
    first.child.kill('SIGSTOP')
    await expect(taken).resolves.toBe('a')
    first.child.kill('SIGCONT')
    await aborted
    // It could take the key as well.
    first.child.kill('SIGKILL')
    const again = second.next()
    await queue.enqueue('a')
    await again
  })

  it('never drops a key, however many workers die while processing it', async () => {
    const prefix = newPrefix()
    const queue = openQueue(redis.settings, prefix, { timing: quick })
    await queue.enqueue('a')
    for (let death = 0; death < 2; death++) {
      const worker = startWorker(redis, prefix)
      await worker.event('started')
      worker.child.kill('SIGKILL')
    }
    const survivor = recordWork()
    const worked = survivor.next()
    queue.process(survivor.handler, { concurrency: 1 })
    await expect(worked).resolves.toBe('a')
  })

  it('keeps a delayed key of a dead process', async () => {
    const prefix = newPrefix()
    const gone = openQueue(redis.settings, prefix)
    await gone.enqueueAfter('a', 300)
    await gone.close(0)
    const survivor = recordWork()
    const worked = survivor.next()
    openQueue(redis.settings, prefix).process(survivor.handler, { concurrency: 1 })
    await expect(worked).resolves.toBe('a')
  })

  it('keeps installations with different prefixes apart', async () => {
    const [one, other] = [openQueue(redis.settings, newPrefix()), openQueue(redis.settings, newPrefix())]
    const [ours, theirs] = [recordWork(), recordWork()]
    one.process(ours.handler, { concurrency: 1 })
    other.process(theirs.handler, { concurrency: 1 })
    const both = Promise.all([ours.next(), theirs.next()])
    await one.enqueue('ours')
    await other.enqueue('theirs')
    await both
    expect([ours.keys, theirs.keys]).toEqual([['ours'], ['theirs']])
  })

  it('accepts keys of any characters', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.oneof(oddKey, fc.string({ unit: 'binary' })), { minLength: 1, maxLength: 20 }), async (keys) => {
        const queue = openQueue(redis.settings, newPrefix())
        const worked = recordWork()
        const all = Promise.all(keys.map(() => worked.next()))
        queue.process(worked.handler, { concurrency: 3 })
        for (const key of keys) await queue.enqueue(key)
        await all
        await queue.close(0)
        expect([...worked.keys].sort()).toEqual([...keys].sort())
      }),
      { numRuns: 15 },
    )
  })

  it('Q2 and Q3: never runs a key twice at once, and runs it after its last enqueue, under any interleaving', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => play(redis, newPrefix(), steps)),
      {
        numRuns: 15,
      },
    )
  })
})

const oddKey = fc.constantFrom('a/b', 'a:b', '0', '0:1', ' ', 'null', '{a}', '*', '__proto__', 'a\nb', 'ключ', '"', "'", '%')

/** Process that enqueues a key, and its delay in milliseconds. */
const step = fc.record({
  queue: fc.nat(1),
  key: fc.constantFrom('a', 'b', 'c'),
  delayMs: fc.constantFrom(0, 0, 0, 1, 20),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

async function play(redis: TestRedis, prefix: string, steps: readonly Step[]): Promise<void> {
  const queues = [openQueue(redis.settings, prefix), openQueue(redis.settings, prefix)]
  const running = new Set<string>()
  /** Numbers of the last enqueue, and of the one before the last run. */
  const enqueued = new Map<string, number>()
  const worked = new Map<string, number>()
  const breaches: string[] = []
  for (const queue of queues)
    queue.process(
      async (key) => {
        if (running.has(key)) breaches.push(key)
        running.add(key)
        worked.set(key, enqueued.get(key) ?? 0)
        await queue.stats()
        running.delete(key)
        return { kind: 'awaitChange' }
      },
      { concurrency: 2 },
    )
  for (const [index, { queue, key, delayMs }] of steps.entries()) {
    enqueued.set(key, index + 1)
    await queues[queue]?.enqueueAfter(key, delayMs)
  }
  const isWorked = (): boolean => [...enqueued].every(([key, number]) => worked.get(key) === number)
  while (!isWorked()) await queues[0]?.stats()
  await Promise.all(queues.map((queue) => queue.close(1_000)))
  expect(breaches).toEqual([])
}

/** A worker that takes one key and works on it until it is aborted. */
function startWorker(redis: TestRedis, prefix: string): { readonly child: ChildProcess; event(name: string): Promise<void> } {
  const args = [redis.port, prefix, quick.lockMs, quick.stalledCheckMs].map(String)
  const child = fork(join(import.meta.dirname, 'worker-process.ts'), args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const event = (name: string): Promise<void> =>
    new Promise((resolve) => {
      const listen = (message: unknown): void => {
        if ((message as { readonly event: string }).event !== name) return
        child.off('message', listen)
        resolve()
      }
      child.on('message', listen)
    })
  return { child, event }
}
