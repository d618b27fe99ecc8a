import { expect, it } from 'vitest'
import { parseTime, timeText } from '../src/index.ts'

it.each([
  ['2026-01-01T00:00:00Z', Date.UTC(2026, 0, 1)],
  ['2026-01-01T00:00:00.123456Z', Date.UTC(2026, 0, 1, 0, 0, 0, 123)],
  ['2026-01-01T02:00:00+02:00', Date.UTC(2026, 0, 1)],
])('a time that an API server or Tranche writes is read: %s', (text, ms) => {
  expect(parseTime(text)).toBe(ms)
})

it.each([
  { value: '2026-01-01T00:00:00x0Z', why: 'API servers accept it as a date-time' },
  { value: '2026-13-01T00:00:00Z', why: 'a month that does not exist' },
  { value: '2026-01-01T00:00:00', why: 'without an offset, the zone of the machine would decide' },
  { value: '5', why: 'engines read a bare number as a year or a month' },
  { value: `2026-01-01T00:00:00.${'0'.repeat(10_000)}Z`, why: 'a long text' },
  { value: '', why: 'empty' },
  { value: undefined, why: 'absent' },
  { value: null, why: 'null' },
  { value: 1_767_225_600_000, why: 'a number' },
  { value: { toString: () => '2026-01-01T00:00:00Z' }, why: 'an object' },
])('a value that is no time is absent: $value ($why)', ({ value }) => {
  expect(parseTime(value)).toBeNull()
})

it('a written time is always one that the parser reads', () => {
  expect([-1, 0, 8.64e15, Number.MAX_VALUE, Number.POSITIVE_INFINITY].map(timeText).map(parseTime)).not.toContain(null)
  expect(timeText(Date.UTC(2026, 0, 1))).toBe('2026-01-01T00:00:00.000Z')
  expect(timeText(Number.MAX_VALUE)).toBe('9999-12-31T23:59:59.999Z')
})
