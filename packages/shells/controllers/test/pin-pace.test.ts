import { expect, it } from 'vitest'
import { PinPace } from '../src/pins/pin-pace.ts'

it('config changes a template three times in a row, then once in 30 seconds', () => {
  const pace = new PinPace(3, 30_000)
  const waits = [0, 0, 0, 10_000, 30_000, 30_001, 61_000].map((nowMs) => {
    const waitMs = pace.waitMs('demo/agent', nowMs)
    if (waitMs === 0) pace.count('demo/agent', nowMs)
    return waitMs
  })
  expect(waits).toEqual([0, 0, 0, 20_000, 0, 29_999, 0])
})

it('three changes in a row are allowed again after a minute and a half', () => {
  const pace = new PinPace(3, 30_000)
  for (const nowMs of [0, 0, 0, 90_000, 90_000, 90_000]) {
    expect(pace.waitMs('demo/agent', nowMs)).toBe(0)
    pace.count('demo/agent', nowMs)
  }
  expect(pace.waitMs('demo/agent', 90_000)).toBe(30_000)
})

it('a Rollout does not wait for another one, nor for one of its name that is gone', () => {
  const pace = new PinPace(3, 30_000)
  for (const nowMs of [0, 0, 0]) pace.count('demo/agent', nowMs)
  expect(pace.waitMs('demo/other', 0)).toBe(0)
  pace.delete('demo/agent')
  expect(pace.waitMs('demo/agent', 0)).toBe(0)
})
