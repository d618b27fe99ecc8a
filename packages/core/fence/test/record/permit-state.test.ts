import type { Permit } from '@tranche/api-schema'
import { BY_STAMPS, FleetIndex, type NodeView, nodeInView, toFleetNode, toFleetPod } from '@tranche/fleet'
import { permitState, type PermitState } from '@tranche/fence'
import { aNode, aPod, FLEET_OWNER, type PodFields } from '@tranche/testing'
import { describe, expect, it } from 'vitest'

const permit: Permit = { node: 'a', podUid: 'permitted', podResourceVersion: '100' }
const permitted = { uid: 'permitted', resourceVersion: '100' }
const another = { uid: 'another', name: 'another', resourceVersion: '7' }

describe('permitState', () => {
  const cases: Record<string, { pods?: readonly Omit<PodFields, 'node'>[]; desired?: boolean; minReadyMs?: number; state: PermitState }> = {
    'standing, while its pod is as recorded': { pods: [permitted], state: 'standing' },
    'standing, even on a node that is no longer desired: a standing pod never settles': {
      pods: [permitted],
      desired: false,
      state: 'standing',
    },
    'standing, even beside an available pod with another uid': { pods: [permitted, another], state: 'standing' },
    'dead, once its pod exists in a newer version': { pods: [{ ...permitted, resourceVersion: '101' }], state: 'dead' },
    'dead, comparing versions as numbers and not as text': { pods: [{ ...permitted, resourceVersion: '1000' }], state: 'dead' },
    'unseen, while our view of the pod is older than the permit': { pods: [{ ...permitted, resourceVersion: '99' }], state: 'unseen' },
    'flying, once its pod is terminating': { pods: [{ ...permitted, resourceVersion: '101', terminating: true }], state: 'flying' },
    'flying, while its terminating pod is beside an available one': {
      pods: [{ ...permitted, terminating: true }, another],
      state: 'flying',
    },
    'flying, once its pod is gone and no other exists': { pods: [], state: 'flying' },
    'flying, while the next pod is not Ready': { pods: [{ ...another, ready: false }], state: 'flying' },
    'flying, while the next pod is Ready for less than minReadySeconds': { pods: [another], minReadyMs: 10_001, state: 'flying' },
    'flying, while the next pod is terminating, too': { pods: [{ ...another, terminating: true }], state: 'flying' },
    'settled, as soon as the next pod is Ready for minReadySeconds': { pods: [another], minReadyMs: 10_000, state: 'settled' },
    'settled, whatever the revision of the next pod': { pods: [{ ...another, hash: 'any' }], state: 'settled' },
    'left, once its pod is gone and the node is not desired': { pods: [], desired: false, state: 'left' },
    'left, even where another pod runs on a node that is not desired': { pods: [another], desired: false, state: 'left' },
    'flying, while its pod is terminating on a node that is not desired': {
      pods: [{ ...permitted, terminating: true }],
      desired: false,
      state: 'flying',
    },
  }

  it.each(Object.entries(cases))('is %s', (_name, { pods = [], desired = true, minReadyMs = 0, state }) => {
    expect(permitState(permit, nodeWith(pods, desired), { minReadyMs, monotonicMs: 10_000 })).toBe(state)
  })

  it('is left where the view lacks the node', () => {
    expect(permitState(permit, undefined, { minReadyMs: 0, monotonicMs: 0 })).toBe('left')
  })
})

/** The node `a` with these pods, all first seen at the start of the monotonic clock. */
function nodeWith(pods: readonly Omit<PodFields, 'node'>[], desired: boolean): NodeView | undefined {
  const index = new FleetIndex()
  const taints = desired ? [] : [{ key: 'dedicated', effect: 'NoSchedule' }]
  index.nodeChanged(undefined, toFleetNode(aNode('a', { taints }), undefined, BY_STAMPS))
  for (const fields of pods) index.podChanged(undefined, toFleetPod(aPod({ ...fields, node: 'a' }), undefined, BY_STAMPS)!)
  return nodeInView(index.view(FLEET_OWNER), 'a')
}
