import { lostPermits } from '@tranche/fence'
import { FleetIndex, type FleetPod, toFleetNode, toFleetPod } from '@tranche/fleet'
import { aNode, aPod, FLEET_OWNER, type PodFields } from '@tranche/testing'
import { describe, expect, it } from 'vitest'

describe('lostPermits (F11)', () => {
  it.each<[string, readonly PodFields[], readonly string[]]>([
    ['a node without a pod is in flight', [], ['a']],
    ['a node with an available pod of the revision is not', [{ node: 'a', hash: 'new' }], []],
    ['a node whose pod of the revision is not Ready is in flight', [{ node: 'a', hash: 'new', ready: false }], ['a']],
    ['a node with a standing old pod is not, Ready or not', [{ node: 'a', hash: 'old', ready: false }], []],
    ['a node whose old pod is terminating is in flight', [{ node: 'a', hash: 'old', terminating: true }], ['a']],
    ['a node with an old pod beside one of the revision is not', [{ node: 'a', hash: 'new', name: 'x', ready: false }, { node: 'a' }], []],
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

  it('ignores nodes that are not desired', () => {
    const pod = podOf({ node: 'b', hash: 'new', ready: false })
    expect(permitsOf([pod], [pod]).map(({ node }) => node)).toEqual(['a'])
  })

  it('names each node once, with a uid that no pod has', () => {
    expect(permitsOf([], [])).toEqual([{ node: 'a', podUid: 'lost:a', podResourceVersion: '0' }])
  })
})

function nodesOf(fields: readonly PodFields[]): readonly string[] {
  const pods = fields.map(podOf)
  return permitsOf(pods, pods).map(({ node }) => node)
}

function permitsOf(seen: readonly FleetPod[], live: readonly FleetPod[]): ReturnType<typeof lostPermits> {
  const index = new FleetIndex()
  index.nodeChanged(undefined, toFleetNode(aNode('a')))
  index.nodeChanged(undefined, toFleetNode(aNode('b', { taints: [{ key: 'dedicated', effect: 'NoSchedule' }] })))
  for (const pod of seen) index.podChanged(undefined, pod)
  return lostPermits({ revision: 'new', fleet: index.view(FLEET_OWNER), pods: live, availability: { minReadyMs: 0, monotonicMs: 0 } })
}

function podOf(fields: PodFields): FleetPod {
  return toFleetPod(aPod(fields), undefined, { nowMs: 0, monotonicMs: 0 })!
}
