import type { Pod } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { measurePods } from '../src/pod-times.ts'
import { podOf, question } from './started-pods.ts'

/** Ready pod with its creation time and start time, in seconds. */
const pod = (at: number, createdAt: number, seconds: number, restartCount = 0): Pod =>
  podOf({ at, createdMs: 1_000 * createdAt, readyMs: 1_000 * (createdAt + seconds), restartCount })

const pods = (count: number, make: (at: number) => Pod): readonly Pod[] => Array.from({ length: count }, (_, at) => make(at))
const measure = (all: readonly Pod[], limit = 2) => measurePods(question(all, { limit }))

describe('how long pods take to start', () => {
  it('is the measured time of each pod less the error of whole seconds, and the mean for a node without a measurement', () => {
    const times = measure(pods(5, (at) => pod(at, 100 * at, 10 * (at + 1))))
    expect(times).toMatchObject({ crowd: null, isCoarse: false })
    expect(times.startMsOf('elsewhere')).toBe(30_000)
    expect(times.startMsOf('node-4')).toBeCloseTo(50_000, -2)
    expect(times.believed[0]).toBeCloseTo(10_000, -2)
  })

  it('is the mean of all if they differ only by fractions of a second', () => {
    const times = measure(pods(40, (at) => pod(at, 100 * at, at % 2 === 0 ? 3 : 4)))
    expect(times.startMsOf('elsewhere')).toBe(3_500)
    // Differences of one second in half of them are 0.25 s², of which cutting moments to seconds makes a sixth.
    expect(times.startMsOf('node-0')).toBeCloseTo(3_500 - 500 / 3, 6)
    expect(measure(pods(40, (at) => pod(at, 100 * at, at % 10 === 0 ? 3 : 4))).startMsOf('node-0')).toBe(3_900)
  })

  it('ignores a pod whose containers were restarted, and one that took ten times the median', () => {
    const { believed, startMsOf } = measure([pod(0, 0, 5), pod(1, 100, 6), pod(2, 200, 7, 1), pod(3, 900, 600)])
    expect([believed.length, startMsOf('elsewhere')]).toEqual([2, 5_500])
  })

  it('is measured from pods that started together if there is nothing else, and reports their number', () => {
    const times = measure(pods(40, (at) => pod(at, 0, 30)))
    expect(times).toMatchObject({ crowd: 40, isCoarse: true })
    expect(times.startMsOf('node-7')).toBe(30_000)
  })

  it('counts the start of pods that started together from the acceptance by the kubelet plus the shortest wait for it', () => {
    const one = (at: number): Pod => podOf({ at, createdMs: 0, takenUpMs: 1_000 * (1 + at), readyMs: 1_000 * (6 + at) })
    const times = measure(pods(40, one))
    expect(times).toMatchObject({ crowd: 40, isCoarse: false })
    expect(times.startMsOf('node-30')).toBe(6_000)
  })

  it('uses only pods that started as in a release, once there are a few of them', () => {
    const crowd = pods(40, (at) => pod(at, 0, 30))
    const one = (at: number): Pod => pod(at, 1_000 + 3 * at, 3)
    expect(measure([...crowd.slice(4), ...pods(4, one)])).toMatchObject({ crowd: 36, isCoarse: true })
    const times = measure([...crowd.slice(5), ...pods(5, one)])
    expect(times).toMatchObject({ believed: [3_000, 3_000, 3_000, 3_000, 3_000], crowd: null, isCoarse: false })
    expect(times.startMsOf('node-20')).toBe(3_000)
  })

  it('does not mistake the pods of a release for pods that started together: whole seconds hide which came first', () => {
    const times = measure(pods(30, (at) => pod(at, 3 * Math.floor(at / 2), 3)))
    expect([times.believed.length, times.crowd]).toEqual([30, null])
  })
})
