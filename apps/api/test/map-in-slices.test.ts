import { FakeClock } from '@tranche/clock'
import { expect, it } from 'vitest'
import { mapInSlices } from '../src/limits/map-in-slices.ts'

const { signal } = new AbortController()
const items = Array.from({ length: 10 }, (_, at) => at)

it('lets other work run every ten milliseconds, and keeps the order', async () => {
  const clock = new FakeClock()
  const steps: string[] = []
  let isDone = false
  const other = (): void => {
    steps.push('|')
    if (!isDone) setImmediate(other)
  }
  setImmediate(other)
  const mapped = await mapInSlices(items, (item) => (clock.advance(5), steps.push('.'), -item), { clock, signal })
  isDone = true
  expect(mapped).toEqual(items.map((item) => -item))
  expect(
    Math.max(
      ...steps
        .join('')
        .split('|')
        .map(({ length }) => length),
    ),
  ).toBe(2)
})

it('stops when its client leaves', async () => {
  const clock = new FakeClock()
  const leaving = new AbortController()
  let made = 0
  const mapping = mapInSlices(items, () => (clock.advance(10), made++), { clock, signal: leaving.signal })
  leaving.abort(new Error('left'))
  await expect(mapping).rejects.toThrow('left')
  expect(made).toBe(1)
})
