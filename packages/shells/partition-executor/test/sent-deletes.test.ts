import type { Permit } from '@tranche/api-schema'
import { type FleetPod, type FleetView, toFleetView } from '@tranche/fleet'
import { permitId } from '@tranche/fence'
import { describe, expect, it } from 'vitest'
import { createSentDeletes, REFUSED_RECHECK_MS } from '../src/sent-deletes.ts'

const permit: Permit = { node: 'a', podUid: 'pod-a', podResourceVersion: '7' }
const standing: FleetPod = {
  ...{ namespace: 'demo', name: 'agent-a', uid: 'pod-a', resourceVersion: '7', ownerUid: 'daemonset', labels: {}, node: 'a', hash: 'old' },
  ...{ createdAt: '2023-01-01T00:00:00Z', terminating: false, phase: 'Running', acknowledged: true, ready: true, readyFromMs: 0 },
  ...{ readyStamp: undefined, trouble: undefined, restarts: 0, rolloutId: undefined, rolloutBatchId: undefined },
}

describe('a delete that was sent', () => {
  it.each<[name: string, pod: FleetPod | null, isPending: boolean]>([
    ['is pending while the watch shows the pod as it was', standing, true],
    ['is over when the pod is terminating', { ...standing, terminating: true }, false],
    ['is over when the pod has changed, for its preconditions would be refused', { ...standing, resourceVersion: '8' }, false],
    ['is over when another pod is there', { ...standing, uid: 'next' }, false],
    ['is over when no pod is there', null, false],
  ])('%s', (_name, pod, isPending) => {
    const sent = createSentDeletes()
    sent.add(permit)
    expect(sent.pending(fleetOf(pod), 0).has(permitId(permit))).toBe(isPending)
    // A finished delete stays finished, whatever an older view shows.
    expect(sent.pending(fleetOf(standing), 0).has(permitId(permit))).toBe(isPending)
  })

  it('may be sent again at once if its outcome is unknown', () => {
    const sent = createSentDeletes()
    sent.add(permit)
    sent.unknown(permit)
    expect(sent.pending(fleetOf(standing), 0).size).toBe(0)
  })

  it('may be sent again a while after it was refused, and not before', () => {
    const sent = createSentDeletes()
    sent.add(permit)
    sent.refused(permit, 1_000)
    expect(sent.pending(fleetOf(standing), 999 + REFUSED_RECHECK_MS).size).toBe(1)
    expect(sent.pending(fleetOf(standing), 1_000 + REFUSED_RECHECK_MS).size).toBe(0)
  })
})

function fleetOf(pod: FleetPod | null): FleetView {
  return toFleetView([{ name: 'a', desired: true, ready: true, answers: true, labels: {}, pods: pod === null ? [] : [pod] }])
}
