import { AppError } from '@tranche/errors'
import { afterEach, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { events } from './hands.ts'
import { untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

it('a Rollout reports once that executors wait for a job queue that is down, and no longer when it is back (G6)', async () => {
  let state: 'well' | 'deaf' | 'away' = 'well'
  stage = await setStage({
    nodes: 4,
    steps: [{ replicas: '100%' }],
    sharesQueue: true,
    queue: (inner) => ({
      ...inner,
      async enqueue(key, trace) {
        if (state === 'away') throw new AppError('REDIS_UNREACHABLE', 'Redis redis.example:6379 does not answer')
        if (state === 'well') await inner.enqueue(key, trace)
      },
    }),
  })
  // The release makes no progress while the queue loses jobs.
  state = 'deaf'
  await stage.setImage('v2')
  await stage.until('it waits for executors', async () => (await stage.release())?.status?.waiting?.reason === 'Upgrading')
  await stage.pass(60_000)
  state = 'away'
  const saysSo = async (): Promise<boolean> =>
    (await stage.rollout()).status?.message?.includes('the job queue is unavailable') === true &&
    (await stage.release())?.status?.waiting?.reason === 'QueueUnavailable'
  await stage.until('it is reported', saysSo, 30_000)
  expect((await stage.rollout()).status?.message).toContain('Redis redis.example:6379 does not answer')
  await stage.pass(120_000)
  expect(await saysSo()).toBe(true)
  const warned = (await events(stage)).filter(({ reason }) => reason === 'QueueUnavailable')
  expect(warned.map(({ type, count }) => [type, count])).toEqual([['Warning', 1]])
  state = 'well'
  await untilReleased(stage, 'v2')
  expectKept(stage)
})
