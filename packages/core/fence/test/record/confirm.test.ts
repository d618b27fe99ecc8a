import { BY_STAMPS, type FleetPod, toFleetNode, toFleetPod } from '@tranche/fleet'
import { hasLeft, isConfirmedBy, type LivePod } from '@tranche/fence'
import type { Node, PodPlacement } from '@tranche/kube-types'
import { aNode, aPod } from '@tranche/testing'
import { describe, expect, it } from 'vitest'

const seen: FleetPod = {
  ...toFleetPod(aPod({ node: 'a', uid: 'new', resourceVersion: '7' }), undefined, BY_STAMPS)!,
  readyStamp: '2026-01-01T00:00:10Z',
}

describe('isConfirmedBy: a live read of a pod that the clock has made available (F6)', () => {
  const cases: Record<string, { read: Partial<LivePod> | null; overdueMs?: number; seen?: Partial<FleetPod>; is: boolean }> = {
    'confirms a pod of the same version': { read: {}, is: true },
    'rejects a pod that is gone': { read: null, is: false },
    'rejects another pod of the same name': { read: { uid: 'newer' }, is: false },
    'rejects a terminating pod': { read: { resourceVersion: '8', terminating: true }, is: false },
    'rejects a pod that is not Ready': { read: { resourceVersion: '8', ready: false }, is: false },
    'rejects a pod that became Ready again': {
      read: { resourceVersion: '9', readyStamp: '2026-01-01T00:00:15Z' },
      overdueMs: 60_000,
      is: false,
    },
    'confirms a pod whose labels changed and that has not broken since': {
      read: { resourceVersion: '8' },
      overdueMs: 1_000,
      is: true,
    },
    'rejects while the pod may have broken and recovered within the second of its stamp': {
      read: { resourceVersion: '8' },
      overdueMs: 999,
      is: false,
    },
    'rejects a missing stamp': {
      seen: { readyStamp: undefined },
      read: { resourceVersion: '8', readyStamp: undefined },
      overdueMs: 60_000,
      is: false,
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { read, overdueMs = 0, seen: change, is }) => {
    expect(isConfirmedBy({ ...seen, ...change }, read === null ? null : { ...seen, ...read }, overdueMs)).toBe(is)
  })
})

describe('hasLeft: a live read of a node that our view lacks (F6)', () => {
  const tainted = aNode('a', { taints: [{ key: 'dedicated', effect: 'NoSchedule' }] })
  const cases: Record<string, { read: Node | null; placement?: PodPlacement; is: boolean }> = {
    'yes where the node is gone': { read: null, is: true },
    'no where it exists': { read: aNode('a'), is: false },
    'no where it exists and its kubelet does not answer': { read: aNode('a', { ready: false, answers: false }), is: false },
    'yes where it has a taint that is not tolerated': { read: tainted, is: true },
    'no where its taint is tolerated': { read: tainted, placement: { tolerations: [{ operator: 'Exists' }] }, is: false },
    'yes where its labels do not match': { read: aNode('a'), placement: { nodeSelector: { disk: 'ssd' } }, is: true },
    'no where its labels match': { read: aNode('a', { labels: { disk: 'ssd' } }), placement: { nodeSelector: { disk: 'ssd' } }, is: false },
  }

  it.each(Object.entries(cases))('%s', (_name, { read, placement = {}, is }) => {
    expect(hasLeft(read === null ? null : toFleetNode(read, undefined, BY_STAMPS), placement)).toBe(is)
  })
})
