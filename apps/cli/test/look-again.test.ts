import { lookAgain } from '@tranche/cli'
import { FakeClock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { describe, expect, it } from 'vitest'

const away = new AppError('API_UNREACHABLE', 'nobody answers')

describe('lookAgain', () => {
  it('ends with what the first look fails by, be it passing or not', async () => {
    const looks = lookAgain(() => Promise.reject(away), optionsOf(new FakeClock()))
    await expect(looks.next()).rejects.toBe(away)
  })

  it('looks on where a later look may pass, and says so', async () => {
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

  it('ends with a later look that does not pass by itself', async () => {
    const clock = new FakeClock()
    const gone = new AppError('ROLLOUT_NOT_FOUND', 'it is gone')
    let first = true
    const looks = lookAgain(() => (first ? ((first = false), Promise.resolve(1)) : Promise.reject(gone)), optionsOf(clock))
    await looks.next()
    const next = expect(looks.next()).rejects.toBe(gone)
    await clock.advanceAsync(10_000)
    await next
  })

  it('waits longer after looks that take long, so that it takes a fifth of the time at most', async () => {
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

  it('ends without a word when it is told to', async () => {
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
