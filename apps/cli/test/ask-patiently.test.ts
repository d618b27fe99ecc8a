import { askPatiently } from '@tranche/cli'
import { FakeClock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { describe, expect, it } from 'vitest'

const late = new AppError('API_DEADLINE', 'GET /version was not answered within 5000 ms')
const wrong = new AppError('ROLLOUT_NOT_FOUND', 'there is none')

describe('asking patiently', () => {
  it('retries until it succeeds, with exponential backoff', async () => {
    const { clock, pauses, options } = patience()
    const asked = askPatiently(answers(late, late, late, 'here'), options)
    await clock.advanceAsync(7_000)
    await expect(asked).resolves.toBe('here')
    expect(pauses).toEqual([1_000, 2_000, 4_000])
  })

  it('throws an error that is not temporary', async () => {
    const { clock, options } = patience()
    const asked = expect(askPatiently(answers(late, wrong), options)).rejects.toBe(wrong)
    await clock.advanceAsync(1_000)
    await asked
  })

  it('throws the last error when the timeout elapses', async () => {
    const { clock, stop, options } = patience()
    const asked = expect(askPatiently(answers(late), options)).rejects.toBe(late)
    await clock.advanceAsync(500)
    stop.abort()
    await asked
  })
})

/** @returns gives these one after the other, and the last of them again and again */
function answers(...given: readonly (AppError | string)[]): () => Promise<string> {
  let at = 0
  return async () => {
    const answer = given[Math.min(at++, given.length - 1)]
    if (answer instanceof AppError) throw answer
    return answer ?? ''
  }
}

function patience() {
  const clock = new FakeClock()
  const stop = new AbortController()
  const pauses: number[] = []
  const mayPass = (error: unknown): boolean => error === late
  const failed = (_error: unknown, pauseMs: number): void => void pauses.push(pauseMs)
  return { clock, stop, pauses, options: { clock, signal: stop.signal, mayPass, failed } }
}
