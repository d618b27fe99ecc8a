import type { DaemonSet, Pod } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { measurePods } from '../src/pod-times.ts'

const fromMs = Date.parse('2026-01-01T00:00:00Z')
const stamp = (seconds: number): string => new Date(fromMs + seconds * 1_000).toISOString().replace('.000', '')

/** A Ready pod that was created at a second, and took so many. */
function pod(at: number, createdAt: number, seconds: number, restartCount = 0): Pod {
  return {
    metadata: { name: `agent-${at}`, namespace: 'demo', uid: `${at}`, creationTimestamp: stamp(createdAt) },
    spec: { nodeName: `node-${at}` },
    status: {
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: stamp(createdAt + seconds) }],
      containerStatuses: [{ restartCount }],
    },
  } as unknown as Pod
}

const pods = (count: number, make: (at: number) => Pod): readonly Pod[] => Array.from({ length: count }, (_, at) => make(at))
const daemonSet = { spec: { template: {} } } as DaemonSet
const measure = (all: readonly Pod[], limit = 2) => measurePods(all, daemonSet, [], limit)

describe('how long pods take to start', () => {
  it('is what each one took, and the half of all where a node does not tell', () => {
    const times = measure(pods(5, (at) => pod(at, 100 * at, 5 + at)))
    expect(times).toMatchObject({ measured: [5_000, 6_000, 7_000, 8_000, 9_000], crowd: null, isCoarse: false })
    expect([times.startMsOf('node-4'), times.startMsOf('elsewhere')]).toEqual([9_000, 7_000])
  })

  it('is not told by a pod whose containers were started again, nor by one that took ten times as long as most', () => {
    expect(measure([pod(0, 0, 5), pod(1, 100, 6), pod(2, 200, 7, 1), pod(3, 900, 600)]).measured).toEqual([5_000, 6_000])
  })

  it('is told by a crowd where no others tell, and then it is said how many started together', () => {
    const times = measure(pods(40, (at) => pod(at, 0, 30)))
    expect(times).toMatchObject({ crowd: 40, isCoarse: true })
    expect(times.startMsOf('node-7')).toBe(30_000)
  })

  it('is told by those alone that started as in a release, once there are a few of them', () => {
    const crowd = pods(40, (at) => pod(at, 0, 30))
    const one = (at: number): Pod => pod(at, 1_000 + 3 * at, 3)
    expect(measure([...crowd.slice(4), ...pods(4, one)])).toMatchObject({ crowd: 36, isCoarse: true })
    const times = measure([...crowd.slice(5), ...pods(5, one)])
    expect(times).toMatchObject({ measured: [3_000, 3_000, 3_000, 3_000, 3_000], crowd: null, isCoarse: false })
    expect(times.startMsOf('node-20')).toBe(3_000)
  })

  it('takes no release for a crowd: as many are down as it may have, and whole seconds hide who came first', () => {
    const times = measure(pods(30, (at) => pod(at, 3 * Math.floor(at / 2), 3)))
    expect([times.measured.length, times.crowd]).toEqual([30, null])
  })
})
