import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../packages/words/clock/src/index.ts'
import { until, within } from '../../scripts/bench/until.ts'

const never = new Promise<never>(() => {})

describe('until', () => {
  it('repeats until the condition holds', async () => {
    const clock = new VirtualClock()
    const looks = [() => 'one is', () => Promise.resolve('two are'), () => true as const]
    await played(
      clock,
      until('three to be there', () => looks.shift()!(), { withinSeconds: 60, clock }),
    )
    expect(looks).toEqual([])
    expect(clock.monotonicMs()).toBe(40)
  })

  it.each([
    ['the last value, if the condition never holds', () => '2 are', 'waited 60 s for three to be there: 2 are'],
    ['that nothing was read, if a read takes too long', () => never, 'waited 60 s for three to be there: nothing was seen'],
    ['the error of a read', () => Promise.reject(new Error('the process has ended')), 'the process has ended'],
  ])('says %s', async (_title, look, message) => {
    const clock = new VirtualClock()
    await expect(played(clock, until('three to be there', look, { withinSeconds: 60, clock }))).rejects.toThrow(message)
  })

  it('does not repeat after it has given up', async () => {
    const clock = new VirtualClock()
    let looks = 0
    const look = (): string => `look ${++looks}`
    await expect(played(clock, until('it', look, { withinSeconds: 1, everyMs: 300, clock }))).rejects.toThrow('look 4')
    await clock.run()
    expect(looks).toBe(4)
  })
})

describe('within', () => {
  it('returns a value that comes in time', async () => {
    const clock = new VirtualClock()
    expect(await played(clock, within('an answer', Promise.resolve('it'), { withinSeconds: 1, clock }))).toBe('it')
  })

  it('names the missing event after its deadline', async () => {
    const clock = new VirtualClock()
    await expect(played(clock, within('an answer', never, { withinSeconds: 1, clock }))).rejects.toThrow('waited 1 s for an answer')
  })
})

async function played<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isOver = false
  const ended = work.finally(() => (isOver = true))
  ended.catch(() => {})
  await clock.run({ done: () => isOver })
  return ended
}
