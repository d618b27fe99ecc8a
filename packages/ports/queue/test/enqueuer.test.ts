import { FakeClock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { type LogFields, type Logger, silentLogger } from '@tranche/telemetry'
import { createEnqueuer, createInProcessQueue, type JobQueue } from '@tranche/queue'
import { describe, expect, it } from 'vitest'

const away = new AppError('REDIS_UNREACHABLE', 'Redis does not answer')
const refused = new AppError('REDIS_REFUSED', 'Redis forbids it')

describe('createEnqueuer', () => {
  it('enqueuer enqueues its keys', async () => {
    const { enqueuer, clock, taken } = bench()
    enqueuer.enqueue('a')
    await clock.advanceAsync(0)
    expect(taken).toEqual(['a'])
  })

  it('enqueuer retries keys that the queue could not accept, each key once', async () => {
    const { enqueuer, clock, taken, fail } = bench()
    fail(away)
    for (const key of ['a', 'b', 'a']) enqueuer.enqueue(key)
    await clock.advanceAsync(5_000)
    expect(taken).toEqual([])
    fail(null)
    await clock.advanceAsync(1_000)
    expect(taken).toEqual(['a', 'b'])
    await clock.advanceAsync(5_000)
    expect(taken).toEqual(['a', 'b'])
    expect(clock.pendingTimers).toBe(0)
  })

  it('enqueuer does not mistake an earlier enqueue with a later response for the failed one', async () => {
    const clock = new FakeClock()
    const answers: PromiseWithResolvers<void>[] = []
    const enqueue = (): Promise<void> => {
      const answer = Promise.withResolvers<void>()
      answers.push(answer)
      return answer.promise
    }
    const enqueuer = createEnqueuer({ queue: { ...createInProcessQueue({ clock }), enqueue }, clock, log: silentLogger })
    enqueuer.enqueue('a')
    enqueuer.enqueue('a')
    answers[1]?.reject(away)
    await clock.advanceAsync(0)
    answers[0]?.resolve()
    await clock.advanceAsync(1_000)
    expect(answers).toHaveLength(3)
    enqueuer.stop()
  })

  it('enqueuer logs no outage, which the queue logs itself', async () => {
    const { enqueuer, clock, lines, fail } = bench()
    fail(away)
    enqueuer.enqueue('a')
    await clock.advanceAsync(5_000)
    expect(lines).toEqual([])
  })

  it('enqueuer logs a permanent error once, and again after it was fixed', async () => {
    const { enqueuer, clock, lines, fail } = bench()
    for (let time = 1; time <= 2; time++) {
      fail(refused)
      enqueuer.enqueue('a')
      enqueuer.enqueue('b')
      await clock.advanceAsync(5_000)
      expect(lines).toHaveLength(time)
      fail(null)
      await clock.advanceAsync(1_000)
    }
    expect(lines[0]).toMatchObject({ err: refused })
  })

  it('enqueuer reports an outage with its cause after ten seconds, until the queue accepts keys', async () => {
    const { enqueuer, clock, fail, outages } = bench()
    fail(away)
    enqueuer.enqueue('a')
    await clock.advanceAsync(9_900)
    expect([enqueuer.outage(), outages]).toEqual([null, []])
    fail(refused)
    await clock.advanceAsync(5_000)
    expect([enqueuer.outage(), outages]).toEqual(['Redis does not answer', ['Redis does not answer']])
    fail(null)
    await clock.advanceAsync(1_000)
    expect([enqueuer.outage(), outages]).toEqual([null, ['Redis does not answer', null]])
  })

  it('leaves no timer behind when it stops', async () => {
    const { enqueuer, clock, fail, taken } = bench()
    fail(away)
    enqueuer.enqueue('a')
    await clock.advanceAsync(0)
    enqueuer.stop()
    enqueuer.enqueue('b')
    await clock.advanceAsync(0)
    expect(clock.pendingTimers).toBe(0)
    expect(taken).toEqual([])
  })
})

function bench() {
  const clock = new FakeClock()
  const taken: string[] = []
  const lines: LogFields[] = []
  let error: Error | null = null
  const inner = createInProcessQueue({ clock })
  const queue: JobQueue = {
    ...inner,
    async enqueue(key) {
      if (error !== null) throw error
      taken.push(key)
    },
  }
  const log: Logger = { ...silentLogger, warn: (fields) => void lines.push(fields) }
  const outages: (string | null)[] = []
  const enqueuer = createEnqueuer({ queue, clock, log, onOutage: () => void outages.push(enqueuer.outage()) })
  return { clock, taken, lines, outages, enqueuer, fail: (next: Error | null) => (error = next) }
}
