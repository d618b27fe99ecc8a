import { agentReturn } from '@tranche/drain'
import type { FleetPod, NodeView } from '@tranche/fleet'
import { expect, it } from 'vitest'

const NOW_MS = Date.parse('2026-01-02T00:00:00Z')
/** The monotonic clock began an hour ago. */
const MONOTONIC_MS = 3_600_000
const times = { minReadyMs: 10_000, nowMs: NOW_MS, monotonicMs: MONOTONIC_MS }
const ago = (seconds: number): string => new Date(NOW_MS - seconds * 1000).toISOString()

/** A pod with the seconds since its creation, its Ready stamp, and the moment at which this process saw it Ready. */
function aPod(uid: string, created: number, stamped: number | null, seen = stamped): FleetPod {
  const readyFromMs = seen === null ? null : MONOTONIC_MS - seen * 1000
  const stamp = stamped === null ? undefined : ago(stamped)
  return { uid, terminating: false, createdAt: ago(created), ready: seen !== null, readyFromMs, readyStamp: stamp } as FleetPod
}

it.each<[string, readonly FleetPod[], object]>([
  ['has stayed while its pod is there', [aPod('p1', 500, 400)], { kind: 'stayed', atMs: NOW_MS - 390_000 }],
  ['has stayed, and is not there, while its pod is not available', [aPod('p1', 60, 9)], { kind: 'stayed', atMs: null }],
  ['is away while its pod terminates', [{ ...aPod('p1', 500, 400), terminating: true }], { kind: 'away' }],
  ['is away without a pod', [], { kind: 'away' }],
  ['is away while its new pod is not Ready', [aPod('p2', 60, null)], { kind: 'away' }],
  ['is away while its new pod is not available', [aPod('p2', 60, 9)], { kind: 'away' }],
  ['is back when its new pod is available', [aPod('p2', 60, 30)], { kind: 'back', atMs: NOW_MS - 20_000 }],
  [
    'is back when the first of its new pods is available',
    [aPod('p3', 60, 15), aPod('p2', 60, 30)],
    { kind: 'back', atMs: NOW_MS - 20_000 },
  ],
  [
    'is back when the kubelet says so, also where this process saw it later',
    [aPod('p2', 60, 50, 12)],
    { kind: 'back', atMs: NOW_MS - 40_000 },
  ],
  ['is not back before its new pod could be available', [aPod('p2', 30, 300, 12)], { kind: 'back', atMs: NOW_MS - 20_000 }],
  ['is back when this process saw it, where the kubelet is ahead', [aPod('p2', 60, -100, 20)], { kind: 'back', atMs: NOW_MS - 10_000 }],
  [
    'is back when this process saw it, without a stamp',
    [{ ...aPod('p2', 60, 20), readyStamp: undefined }],
    { kind: 'back', atMs: NOW_MS - 10_000 },
  ],
])('an agent %s', (_name, pods, want) => {
  expect(agentReturn({ name: 'a', pods } as unknown as NodeView, 'p1', times)).toEqual(want)
})

it('an agent of a node that is not in view is away', () => {
  expect(agentReturn(undefined, 'p1', times)).toEqual({ kind: 'away' })
})
