import type { Pod } from '@tranche/kube-types'
import { expect, it } from 'vitest'
import { createLives } from '../src/pod-lives.ts'
import type { PodTimes } from '../src/pod-times.ts'

it.each([3_120, 9_430, 1_149])('lets pods become ready together, each in the measured time: %d ms', (startMs) => {
  const times: PodTimes = {
    believed: [startMs],
    startMsOf: () => startMs,
    stop: { ms: 0, source: 'ByReleases' },
    isCoarse: false,
    crowd: null,
  }
  let nowMs = 0
  const lives = createLives({ times, pods: [], takenAtMs: 0, nowMs: () => nowMs, crashes: () => false, simulated: new Set() })
  const starts = Array.from({ length: 200 }, (_, at) => {
    const pod = { metadata: { name: `p${at}`, uid: `${at}` }, spec: { nodeName: 'node-1' } } as unknown as Pod
    const { startMs: ms } = lives(pod).settings
    nowMs += ms
    return { ms, readyMs: nowMs }
  })
  const tickMs = Math.min(500, Math.max(100, startMs / 20))
  for (const { ms, readyMs } of starts) {
    expect(Math.abs(ms - startMs)).toBeLessThanOrEqual(tickMs)
    expect(Math.abs(readyMs / tickMs - Math.round(readyMs / tickMs))).toBeLessThan(1e-6)
  }
  expect(Math.abs(nowMs - 200 * startMs)).toBeLessThanOrEqual(tickMs)
})

it.each([
  ['node-1', 'agent:v3-bad-crash', 'bad-crash'],
  ['node-1', 'agent:v3', 'prompt'],
  ['machine-1', 'agent:v3-bad-crash', 'prompt'],
])('lets a new pod on %s with the image %s become %s: only on simulated nodes does the tag decide', (nodeName, image, name) => {
  const times: PodTimes = { believed: [], startMsOf: () => 1_000, stop: { ms: 0, source: 'ByDefault' }, isCoarse: false, crowd: null }
  const lives = createLives({ times, pods: [], takenAtMs: 0, nowMs: () => 0, crashes: () => false, simulated: new Set(['node-1']) })
  expect(lives({ metadata: { name: 'p', uid: '1' }, spec: { nodeName, containers: [{ image }] } } as unknown as Pod).name).toBe(name)
})
