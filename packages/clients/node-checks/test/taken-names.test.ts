import { FakeClock } from '@tranche/clock'
import { expect, it } from 'vitest'
import { createTakenNames } from '../src/taken-names.ts'

it('reports a name that has been taken for a minute, from its first question on', () => {
  const clock = new FakeClock()
  const names = createTakenNames(clock)
  expect(names.isTakenForLong('a')).toBe(false)
  clock.advance(59_999)
  expect(names.isTakenForLong('a')).toBe(false)
  clock.advance(1)
  expect(names.isTakenForLong('a')).toBe(true)
})

it('counts again from zero once the name was free', () => {
  const clock = new FakeClock()
  const names = createTakenNames(clock)
  names.isTakenForLong('a')
  names.forget('a')
  clock.advance(60_000)
  expect(names.isTakenForLong('a')).toBe(false)
})

it('forgets names that are not asked for any more, and none that is', () => {
  const clock = new FakeClock()
  const names = createTakenNames(clock)
  for (const name of Array.from({ length: 1_000 }, (_, n) => `left-${n}`)) names.isTakenForLong(name)
  names.isTakenForLong('asked')
  clock.advance(300_000)
  expect(names.isTakenForLong('asked')).toBe(true)
  clock.advance(300_000)
  expect(names.isTakenForLong('asked')).toBe(true)
  expect(names.size).toBe(1)
})
