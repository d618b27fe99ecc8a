import { FakeClock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { describe, expect, it } from 'vitest'
import { lookAgain } from '../src/release-client/look-again.ts'

const away = new AppError('API_UNREACHABLE', 'no answer')

describe('lookAgain', () => {
  it('throws every error of the first read, also a temporary one', async () => {
    const looks = lookAgain(() => Promise.reject(away), optionsOf(new FakeClock()))
    await expect(looks.next()).rejects.toBe(away)
  })

  it('retries temporary errors of later reads, and reports them', async () => {
    const clock = new FakeClock()
    const failed: unknown[] = []
    const answers: (number | AppError)[] = [1, away, away, 2]
    const look = async (): Promise<number> => {
      const answer = answers.shift()
      if (answer instanceof AppError) throw answer
      return answer ?? 0
    }
    const looks = lookAgain(look, { ...optionsOf(clock), failed: (error) => void failed.push(error) })
    await expect(looks.next()).resolves.toEqual({ value: 1, done: false })
    const next = looks.next()
    await clock.advanceAsync(10_000)
    await expect(next).resolves.toEqual({ value: 2, done: false })
    expect(failed).toEqual([away, away])
  })

  it('throws errors of later reads that are not temporary', async () => {
    const clock = new FakeClock()
    const gone = new AppError('ROLLOUT_NOT_FOUND', 'it is gone')
    let first = true
    const looks = lookAgain(() => (first ? ((first = false), Promise.resolve(1)) : Promise.reject(gone)), optionsOf(clock))
    await looks.next()
    const next = expect(looks.next()).rejects.toBe(gone)
    await clock.advanceAsync(10_000)
    await next
  })

  it('waits longer after slow reads, so that reads take at most a fifth of the time', async () => {
    const clock = new FakeClock()
    const began: number[] = []
    const look = async (): Promise<void> => {
      began.push(clock.monotonicMs())
      clock.advance(2_000)
    }
    const looks = lookAgain(look, optionsOf(clock))
    await looks.next()
    const next = looks.next()
    await clock.advanceAsync(30_000)
    await next
    expect(began[1]! - began[0]!).toBeGreaterThanOrEqual(10_000)
  })

  it('ends silently on the abort signal', async () => {
    const clock = new FakeClock()
    const stop = new AbortController()
    const looks = lookAgain(async () => 1, { ...optionsOf(clock), signal: stop.signal })
    await looks.next()
    const next = looks.next()
    stop.abort()
    await expect(next).resolves.toEqual({ value: undefined, done: true })
  })
})

function optionsOf(clock: FakeClock) {
  return { clock, signal: new AbortController().signal, failed: () => {} }
}
