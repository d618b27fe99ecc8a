import { BY_STAMPS, FleetIndex, type NodeView, toFleetNode, toFleetPod } from '@tranche/fleet'
import { batchScope, firstCandidates } from '@tranche/fence'
import { aNode, aPod, FLEET_OWNER, type PodFields } from '@tranche/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const everyNode = batchScope(undefined, null)
const revisions = { canary: 'new', stable: 'stable', left: ['left'], scope: everyNode }
const healthy = { hash: 'stable', createdAt: '2026-01-05T00:00:00Z' }

/** Every reason for precedence, the strongest first. Within one rank of G5 the older pod comes first, then the name decides. */
const inOrder: readonly (Omit<PodFields, 'node'> & { readonly why: string })[] = [
  { ...healthy, why: 'superseded and failed', hash: 'older', phase: 'Failed', ready: false },
  { ...healthy, why: 'superseded and healthy', hash: 'older' },
  { ...healthy, why: 'of no known revision and healthy', hash: null, createdAt: '2026-01-06T00:00:00Z' },
  { ...healthy, why: 'failed', phase: 'Failed', ready: false },
  { ...healthy, why: 'crashing', ...crashing('CrashLoopBackOff'), createdAt: '2026-01-01T00:00:00Z' },
  { ...healthy, why: 'out of memory', ...crashing('OOMKilled'), createdAt: '2026-01-02T00:00:00Z' },
  { ...healthy, why: 'ended with an error', ...crashing('Error'), createdAt: '2026-01-03T00:00:00Z' },
  { ...healthy, why: 'unable to run its container', ...crashing('RunContainerError'), createdAt: '2026-01-04T00:00:00Z' },
  { ...healthy, why: 'pending', phase: 'Pending', ready: false },
  { ...healthy, why: 'not Ready, and waiting for an image', ...crashing('ImagePullBackOff'), createdAt: '2026-01-04T00:00:00Z' },
  { ...healthy, why: 'not Ready', ready: false },
  { ...healthy, why: 'the oldest', createdAt: '2026-01-04T00:00:00Z' },
  { ...healthy, why: 'first by name', name: 'a' },
  { ...healthy, why: 'second by name', name: 'b' },
  { ...healthy, why: 'Ready, whatever a container said before', name: 'c', ...crashing('CrashLoopBackOff'), ready: true },
  { ...healthy, why: 'the youngest', createdAt: '2026-01-06T00:00:00Z' },
]

describe('firstCandidates (G5)', () => {
  it.each(inOrder.slice(1).map((later, at) => [inOrder[at]!.why, later.why, inOrder[at]!, later] as const))(
    'takes a pod that is %s before one that is %s',
    (_first, _second, first, second) => {
      const nodes = [nodeWith('x', second, 'second'), nodeWith('y', first, 'first')]
      expect(names(nodes, 2)).toEqual(['y', 'x'])
      expect(names(nodes, 1)).toEqual(['y'])
    },
  )

  it('gives the same choice whatever the order of the nodes', () => {
    const nodes = inOrder.map((fields, at) => nodeWith(`node-${at}`, fields, `pod-${at}`))
    const all = nodes.map(({ name }) => name)
    fc.assert(
      fc.property(fc.shuffledSubarray(nodes, { minLength: nodes.length }), fc.nat(inOrder.length), (shuffled, count) => {
        expect(names(shuffled, count)).toEqual(all.slice(0, count))
      }),
    )
  })

  it('counts no pod as superseded while the stable revision is unknown', () => {
    const nodes = [nodeWith('a', { hash: 'older', createdAt: '2026-01-02T00:00:00Z' }), nodeWith('b', { hash: 'stable' })]
    expect(
      firstCandidates(nodes, { canary: 'new', stable: undefined, left: [], scope: everyNode }, 2).map(({ node }) => node.name),
    ).toEqual(['b', 'a'])
  })

  it('counts nothing as superseded while the stable revision itself is released', () => {
    const nodes = [nodeWith('a', { hash: 'bad', ready: false, createdAt: '2026-01-02T00:00:00Z' }), nodeWith('b', { hash: 'bad' })]
    expect(
      firstCandidates(nodes, { canary: 'stable', stable: 'stable', left: [], scope: everyNode }, 2).map(({ node }) => node.name),
    ).toEqual(['a', 'b'])
  })

  it('skips nodes that are NotReady', () => {
    expect(names([{ ...nodeWith('a', healthy), ready: false }, nodeWith('b', healthy)], 2)).toEqual(['b'])
  })

  it.each([
    ['a superseded revision, where its kubelet answers', { hash: 'older' }, { answers: true }, ['a', 'b']],
    ['no known revision, where its kubelet answers', { hash: null }, { answers: true }, ['a', 'b']],
    ['a superseded revision, where its kubelet does not answer', { hash: 'older' }, { answers: false }, ['b']],
    ['the stable revision, though its kubelet answers', { hash: 'stable' }, { answers: true }, ['b']],
    ['a revision that a completed release left behind, though its kubelet answers', { hash: 'left' }, { answers: true }, ['b']],
  ])('treats a NotReady node that runs %s', (_what, pod, node, want) => {
    expect(names([{ ...nodeWith('a', { ...healthy, ...pod }), ready: false, ...node }, nodeWith('b', healthy)], 2)).toEqual(want)
  })

  it('ranks NotReady nodes with a live kubelet as not ready while the stable revision is restored', () => {
    const bad = { ...healthy, hash: 'bad' }
    const nodes = [nodeWith('a', bad), { ...nodeWith('b', bad), ready: false }, nodeWith('c', { ...bad, ready: false, phase: 'Pending' })]
    const chosen = firstCandidates(nodes, { canary: 'stable', stable: 'stable', left: [], scope: everyNode }, 3)
    expect(chosen.map(({ node }) => node.name)).toEqual(['c', 'b', 'a'])
  })

  it('offers one pod per node: the first of its old ones', () => {
    const node = nodeWith('a', { hash: 'stable', name: 'pod-1' })
    const broken = nodeWith('a', { hash: 'stable', name: 'pod-2', ready: false })
    const updated = nodeWith('a', { hash: 'new', name: 'pod-0' })
    const doubled = { ...node, pods: [...updated.pods, ...node.pods, ...broken.pods] }
    expect(firstCandidates([doubled], revisions, 5).map(({ pod }) => pod.name)).toEqual(['pod-2'])
  })

  it('offers nothing for a count of zero', () => {
    expect(names([nodeWith('a', healthy)], 0)).toEqual([])
    expect(names([nodeWith('a', healthy)], -3)).toEqual([])
  })
})

function crashing(reason: string): Pick<PodFields, 'ready' | 'containers'> {
  return { ready: false, containers: [{ name: 'agent', state: { waiting: { reason } } }] }
}

function nodeWith(name: string, fields: Omit<PodFields, 'node'>, podName = `pod-${name}`): NodeView {
  const index = new FleetIndex()
  index.nodeChanged(undefined, toFleetNode(aNode(name), undefined, BY_STAMPS))
  index.podChanged(undefined, toFleetPod(aPod({ name: podName, ...fields, node: name }), undefined, BY_STAMPS)!)
  return index.view(FLEET_OWNER).nodes[0]!
}

function names(nodes: readonly NodeView[], count: number): readonly string[] {
  return firstCandidates(nodes, revisions, count).map(({ node }) => node.name)
}
