import { expect, it } from 'vitest'
import { etaRange } from '../src/eta-range.ts'
import type { PodTimes } from '../src/pod-times.ts'

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `node-${at}`)
const timesOf = (believed: readonly number[]): PodTimes => ({
  believed,
  startMsOf: (node) => believed[Number(node.slice('node-'.length)) % believed.length] ?? 10_000,
  stop: { ms: 1_000, source: 'ByReleases' },
  isCoarse: false,
  crowd: null,
})

it('is a single time if all pods take equally long', () => {
  const times = timesOf([9_000, 9_000, 9_000])
  expect(etaRange({ batches: [names(10)], limit: 5, times, minReadyMs: 0, wholeMs: 20_000 })).toEqual({ low: 20, high: 20 })
})

it('contains the simulated time, and is wider if start times differ more', () => {
  const near = etaRange({ batches: [names(40)], limit: 4, times: timesOf([9_000, 10_000, 11_000]), minReadyMs: 0, wholeMs: 110_000 })
  const far = etaRange({ batches: [names(40)], limit: 4, times: timesOf([2_000, 10_000, 18_000]), minReadyMs: 0, wholeMs: 110_000 })
  for (const { low, high } of [near, far]) {
    expect(low).toBeLessThanOrEqual(110)
    expect(high).toBeGreaterThanOrEqual(110)
  }
  expect(far.high - far.low).toBeGreaterThan(near.high - near.low)
})

it('adds the error of whole seconds, and half of everything without a measured pod', () => {
  const coarse = { ...timesOf([9_000]), isCoarse: true }
  expect(etaRange({ batches: [names(10)], limit: 5, times: coarse, minReadyMs: 0, wholeMs: 20_000 })).toEqual({ low: 19, high: 21 })
  const unknown = timesOf([])
  expect(etaRange({ batches: [names(2)], limit: 1, times: unknown, minReadyMs: 0, wholeMs: 30_000 })).toEqual({ low: 19, high: 41 })
})

it('adds a second per pod when the stop time is unmeasured, and subtracts at most the stop time', () => {
  const rangeOf = (ms: number) => {
    const times: PodTimes = { ...timesOf([9_000, 9_000, 9_000]), stop: { ms, source: 'ByDefault' } }
    return etaRange({ batches: [names(10)], limit: 5, times, minReadyMs: 0, wholeMs: 20_000 })
  }
  expect([rangeOf(1_500), rangeOf(400)]).toEqual([
    { low: 18, high: 22 },
    { low: 19.2, high: 22 },
  ])
})

it('begins at the fastest measured start if many pods started together', () => {
  const times = { ...timesOf([2_000, 9_000, 9_000, 9_000, 11_000]), crowd: 5 }
  const [alone, crowded] = [{ ...times, crowd: null }, times].map((one) =>
    etaRange({ batches: [names(10)], limit: 5, times: one, minReadyMs: 0, wholeMs: 20_000 }),
  )
  expect(crowded).toEqual({ low: alone!.low - 2 * 6, high: alone!.high })
})
