import { lostPermits, type LostRecord } from '@tranche/fence'
import { BY_STAMPS, FleetIndex, type FleetPod, toFleetNode, toFleetPod } from '@tranche/fleet'
import { aNode, aPod, FLEET_OWNER, type PodFields } from '@tranche/testing'
import { describe, expect, it } from 'vitest'

describe('lostPermits (F11)', () => {
  it.each<[string, readonly PodFields[], readonly string[]]>([
    ['a node without a pod is in flight', [], ['a']],
    ['a node with an available pod of the revision is not', [{ node: 'a', hash: 'new' }], []],
    ['a node whose pod of the revision is not Ready is in flight', [{ node: 'a', hash: 'new', ready: false }], ['a']],
    ['a node with a standing stable pod is not, Ready or not', [{ node: 'a', hash: 'old', ready: false }], []],
    ['a node with a superseded pod that is not available is in flight', [{ node: 'a', hash: 'bad', ready: false }], ['a']],
    ['a node with an available superseded pod is not', [{ node: 'a', hash: 'bad' }], []],
    ['a node whose old pod is terminating is in flight', [{ node: 'a', hash: 'old', terminating: true }], ['a']],
    [
      'a node with a stable pod beside one of the revision is not',
      [
        { node: 'a', hash: 'new', name: 'x', ready: false },
        { node: 'a', hash: 'old' },
      ],
      [],
    ],
  ])('%s', (_case, fields, want) => {
    expect(nodesOf(fields)).toEqual(want)
  })

  it('counts a node as in flight while the live list shows no Ready pod, whatever our view shows', () => {
    const seen = podOf({ node: 'a', hash: 'new' })
    const live = podOf({ node: 'a', hash: 'new', ready: false })
    expect(permitsOf([seen], [live]).map(({ node }) => node)).toEqual(['a'])
    expect(permitsOf([seen], []).map(({ node }) => node)).toEqual(['a'])
  })

  it('counts a node as in flight while the pod that is Ready in the live list is not the one that our view shows as available', () => {
    const seen = podOf({ node: 'a', hash: 'new', name: 'before' })
    const live = podOf({ node: 'a', hash: 'new', name: 'now' })
    expect(permitsOf([seen], [live]).map(({ node }) => node)).toEqual(['a'])
    expect(permitsOf([seen, live], [live])).toEqual([])
  })

  it('counts every node that is desired in the live list, and no other', () => {
    const pod = podOf({ node: 'b', hash: 'new', ready: false })
    expect(permitsOf([pod], [pod]).map(({ node }) => node)).toEqual(['a'])
    expect(permitsOf([], [], { nodes: ['a', 'joined'] }).map(({ node }) => node)).toEqual(['a', 'joined'])
  })

  it('counts a superseded pod and a stable one alike where the stable revision is unknown, or is released again', () => {
    const pods = [podOf({ node: 'a', hash: 'old', ready: false })]
    expect(permitsOf(pods, pods, { stable: undefined }).map(({ node }) => node)).toEqual(['a'])
    expect(permitsOf(pods, pods, { stable: 'new' }).map(({ node }) => node)).toEqual(['a'])
    const unlabelled = pods.map((pod) => ({ ...pod, hash: undefined }))
    expect(permitsOf(unlabelled, unlabelled, { stable: undefined }).map(({ node }) => node)).toEqual(['a'])
  })

  it('counts no node that still runs a revision that a completed release left behind, and not where it is released again', () => {
    const pods = [podOf({ node: 'a', hash: 'bad', ready: false })]
    expect(permitsOf(pods, pods, { left: ['bad'] })).toEqual([])
    expect(permitsOf(pods, pods, { left: ['bad'], stable: undefined })).toEqual([])
    expect(permitsOf(pods, pods, { left: ['bad'], revision: 'bad' }).map(({ node }) => node)).toEqual(['a'])
  })

  it('counts a node as in flight whose pod is available only by a view that may have missed a flap (L10)', () => {
    const availability = { minReadyMs: 10_000, monotonicMs: 10_500 }
    const seen = podOf({ node: 'a', hash: 'new', resourceVersion: '5' })
    expect(permitsOf([seen], [seen], { availability })).toEqual([])
    expect(permitsOf([seen], [podOf({ node: 'a', hash: 'new', resourceVersion: '6' })], { availability }).map(({ node }) => node)).toEqual([
      'a',
    ])
  })

  it('names each node once, with a uid that no pod has', () => {
    expect(permitsOf([], [])).toEqual([{ node: 'a', podUid: 'lost:a', podResourceVersion: '0' }])
  })
})

function nodesOf(fields: readonly PodFields[]): readonly string[] {
  const pods = fields.map(podOf)
  return permitsOf(pods, pods).map(({ node }) => node)
}

function permitsOf(seen: readonly FleetPod[], live: readonly FleetPod[], given: Partial<LostRecord> = {}): ReturnType<typeof lostPermits> {
  const index = new FleetIndex()
  index.nodeChanged(undefined, toFleetNode(aNode('a'), undefined, BY_STAMPS))
  index.nodeChanged(undefined, toFleetNode(aNode('b', { taints: [{ key: 'dedicated', effect: 'NoSchedule' }] }), undefined, BY_STAMPS))
  for (const pod of seen) index.podChanged(undefined, pod)
  const availability = { minReadyMs: 0, monotonicMs: 0 }
  return lostPermits({
    revision: 'new',
    stable: 'old',
    left: [],
    nodes: ['a'],
    fleet: index.view(FLEET_OWNER),
    pods: live,
    availability,
    ...given,
  })
}

function podOf(fields: PodFields): FleetPod {
  return toFleetPod(aPod(fields), undefined, BY_STAMPS)!
}
