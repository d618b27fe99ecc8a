import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { measurePods, type PodTimes } from '../src/pod-times.ts'
import { createSequence, meanOf } from '../src/statistics.ts'
import { type PlayedRelease, question, releasedPods } from './started-pods.ts'

const one: PlayedRelease = { batches: [6, 24, 30], limit: 6, startMsOf: (at) => 7_100 + 13 * ((at * 37) % 100), stopMs: 2_400 }
type Asked = Parameters<typeof question>[1]
const measure = (release: PlayedRelease, asked: Asked = {}): PodTimes =>
  measurePods(question(releasedPods(release), { limit: release.limit, ...asked }))
const seconds = ({ stop }: PodTimes): number => Math.round(stop.ms / 100) / 10
const unknown = { ms: 1_500, source: 'ByDefault' }

describe('how long pods take to stop', () => {
  it('is measured from the gaps between pods of a release', () => {
    const times = measure(one)
    expect([times.stop.source, seconds(times)]).toEqual(['ByReleases', expect.closeTo(2.4, 0)])
  })

  it.each<[string, Partial<PlayedRelease>]>([
    ['pauses between batches are no stop', { pauseMs: 3_600_000 }],
    ['nor are short ones', { pauseMs: 3_000 }],
    ['nor is the time after which a pod counts as available', { minReadyMs: 20_000 }],
    ['the DaemonSet controller keeps the limit as well, without batches', { batches: [60], isLabelled: false }],
    ['one node after the other', { batches: [3, 12], limit: 1 }],
    ['all of a batch stop together, and start together', { startMsOf: () => 2_100 }],
    ['pods are up in the second in which they were made', { startMsOf: () => 300, stopMs: 500, batches: [60] }],
  ])('%s', (_, part) => {
    const release = { ...one, ...part }
    const times = measure(release, { spec: { minReadySeconds: (release.minReadyMs ?? 0) / 1_000 } })
    expect(times.stop.source).toBe('ByReleases')
    expect(Math.abs(times.stop.ms - release.stopMs)).toBeLessThan(500)
  })

  it.each<[string, Partial<PlayedRelease>, Asked]>([
    ['batches up to the limit show nothing: the gaps between them are no stops', { batches: [6, 6, 6, 6, 6] }, {}],
    ['a release with a smaller limit shows nothing', { limit: 3 }, { limit: 6 }],
    ['nor does one that kept a larger one', { limit: 12 }, { limit: 6 }],
    ['pods from the creation of the DaemonSet replaced no others', {}, { revisionsMs: [50_000] }],
    ['nor did those that are older than the last change', {}, { revisionsMs: [0, 10_000_000] }],
    [
      'no pod stops for longer than its grace period lets it',
      { stopMs: 40_000 },
      { spec: { template: { spec: { terminationGracePeriodSeconds: 20 } } } },
    ],
    [
      'new pods of a surge wait for no old ones',
      { isLabelled: false, batches: [60] },
      { spec: { updateStrategy: { rollingUpdate: { maxSurge: 1 } } } },
    ],
  ])('is not known else: %s', (_, part, asked) => {
    const release = { ...one, ...part }
    expect(measure(release, { limit: release.limit, ...asked }).stop).toEqual(unknown)
  })

  it('ignores pods of nodes that joined after the change', () => {
    const pods = releasedPods(one)
    const asked = question(pods, { limit: 6 })
    const late = asked.snapshot.nodes.map((node) => ({
      ...node,
      metadata: { ...node.metadata, creationTimestamp: '2026-01-01T00:01:00Z' },
    }))
    expect(measurePods({ ...asked, snapshot: { ...asked.snapshot, nodes: late } }).stop).toEqual(unknown)
  })

  it('ignores a few pods, and a wait in the middle of a batch', () => {
    expect(measure({ ...one, batches: [10] }).stop).toEqual(unknown)
    const pods = releasedPods({ ...one, batches: [30] })
    const later = releasedPods({ ...one, batches: [30], fromMs: 700_000 }).map((pod, at) => ({
      ...pod,
      metadata: { ...pod.metadata, name: `later-${at}` },
      spec: { nodeName: `later-${at}` },
    }))
    const times = measurePods(question([...pods, ...later], { limit: 6 }))
    expect([times.stop.source, seconds(times)]).toEqual(['ByReleases', expect.closeTo(2.4, 0)])
  })

  it('is at most the grace period and a margin without a measurement, or with a shorter planned one', () => {
    const short = { spec: { template: { spec: { terminationGracePeriodSeconds: 1 } } } }
    expect(measure({ ...one, batches: [3] }, short).stop).toEqual({ ms: 1_000, source: 'ByDefault' })
    const asked = question(releasedPods({ ...one, stopMs: 30_000 }), { limit: 6 })
    expect(measurePods(asked).stop.ms).toBeGreaterThan(29_000)
    const planned = { ...asked.planned, spec: short.spec } as typeof asked.planned
    expect(measurePods({ ...asked, planned }).stop.ms).toBe(6_000)
  })

  it('adds up with the start to the time per node of a release: within a twentieth, or a tenth of a second', () => {
    const releases = fc.record({
      limit: fc.integer({ min: 1, max: 12 }),
      stopMs: fc.integer({ min: 0, max: 15_000 }),
      startMs: fc.integer({ min: 1_500, max: 40_000 }),
      spreadMs: fc.integer({ min: 200, max: 5_000 }),
      fromMs: fc.integer({ min: 100_000, max: 101_000 }),
      seed: fc.nat(),
    })
    const holds = fc.property(releases, ({ limit, stopMs, startMs, spreadMs, fromMs, seed }) => {
      const random = createSequence(seed)
      const starts = Array.from({ length: 26 * limit }, () => startMs + Math.round(spreadMs * random()))
      const release = { batches: [limit, 10 * limit, 15 * limit], limit, stopMs, fromMs, startMsOf: (at: number) => starts[at]! }
      const times = measure(release)
      const truth = meanOf(starts) + stopMs
      const off = Math.abs(meanOf(times.believed) + times.stop.ms - truth)
      expect(times.stop.source).toBe('ByReleases')
      expect(off).toBeLessThan(Math.max(truth / 20, 100))
    })
    fc.assert(holds, { numRuns: 60, seed: 1 })
  })
})
