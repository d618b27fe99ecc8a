import { BY_STAMPS, FleetIndex, type FleetNode, type FleetPod, nodeInView, toFleetNode, toFleetPod } from '@tranche/fleet'
import type { Condition, Node, PodPlacement } from '@tranche/kube-types'
import { aNode, aPod, FLEET_OWNER, type NodeFields, type PodFields } from '@tranche/testing'
import { describe, expect, it } from 'vitest'

describe('FleetIndex', () => {
  it('shows desired nodes and nodes with a pod, by name', () => {
    const index = indexOf([node('c'), node('a'), node('b', tainted), node('d', tainted)], [pod({ node: 'd' }), pod({ node: 'gone' })])
    expect(index.view(FLEET_OWNER)).toMatchObject({
      desired: 2,
      nodes: [
        { name: 'a', desired: true, pods: [] },
        { name: 'c', desired: true, pods: [] },
        { name: 'd', desired: false, ready: true, pods: [{ name: 'pod-d' }] },
        { name: 'gone', desired: false, isDeleted: true, ready: false, pods: [{ name: 'pod-gone' }] },
      ],
    })
    expect(index.view(FLEET_OWNER).nodes.filter(({ isDeleted }) => isDeleted === true)).toHaveLength(1)
  })

  it('shows a node that is desired on its return, with or without a pod, until it is back or deleted', () => {
    const unreachable = { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' }
    const dead = { ready: false, taints: [unreachable] }
    const both = { ...dead, taints: [unreachable, { key: 'dedicated', effect: 'NoSchedule' }] }
    const index = indexOf(
      [node('a', dead), node('b', dead), node('c', both), node('d', both), node('e')],
      [pod({ node: 'b' }), pod({ node: 'd' })],
    )
    const seen = index.view(FLEET_OWNER)
    expect(seen).toMatchObject({ desired: 1, nodes: [{ name: 'a', pods: [] }, { name: 'b' }, { name: 'd' }, { name: 'e' }] })
    const placed = (view: typeof seen): unknown => view.nodes.map(({ name, desired, desiredOnReturn }) => [name, desired, desiredOnReturn])
    const others = [
      ['d', false, undefined],
      ['e', true, undefined],
    ]
    expect(placed(seen)).toEqual([['a', false, true], ['b', false, true], ...others])
    index.nodeChanged(node('a', dead), node('a'))
    index.nodeChanged(node('b', dead), undefined)
    expect(placed(index.view(FLEET_OWNER))).toEqual([['a', true, undefined], ['b', false, undefined], ...others])
  })

  it('returns the same view while nothing changes', () => {
    const index = indexOf([node('a')], [pod({ node: 'a' })])
    const view = index.view(FLEET_OWNER)
    index.podChanged(undefined, pod({ node: 'a', ownerUid: 'another' }))
    expect(index.view(FLEET_OWNER)).toBe(view)
  })

  it('returns a new view after a change and leaves the old one unchanged', () => {
    const index = indexOf([node('a')], [pod({ node: 'a', resourceVersion: '1' })])
    const before = index.view(FLEET_OWNER)
    index.podChanged(pod({ node: 'a', resourceVersion: '1' }), pod({ node: 'a', resourceVersion: '2' }))
    expect(index.view(FLEET_OWNER).nodes[0]?.pods[0]?.resourceVersion).toBe('2')
    expect(before.nodes[0]?.pods[0]?.resourceVersion).toBe('1')
  })

  it('shows no pod of another namespace, even if it names the owner (F15)', () => {
    const forged = { ...pod({ node: 'a', name: 'forged' }), namespace: 'tenant' }
    const index = indexOf([node('a')], [pod({ node: 'a' }), forged])
    expect(index.view(FLEET_OWNER).nodes[0]?.pods.map(({ name }) => name)).toEqual(['pod-a'])
    index.podChanged(forged, undefined)
    expect(index.view(FLEET_OWNER).nodes[0]?.pods.map(({ name }) => name)).toEqual(['pod-a'])
  })

  it('shows no pod that the selector does not match, though it names the owner (F15)', () => {
    const index = indexOf([node('a')], [{ ...pod({ node: 'a' }), labels: { app: 'agent' } }, pod({ node: 'a', name: 'forged' })])
    const owner = { ...FLEET_OWNER, spec: { ...FLEET_OWNER.spec, selector: { matchLabels: { app: 'agent' } } } }
    expect(index.view(owner).nodes[0]?.pods.map(({ name }) => name)).toEqual(['pod-a'])
  })

  it('checks every node again when the placement changes', () => {
    const index = indexOf([node('a', { labels: { pool: 'gpu' } }), node('b')], [])
    expect(names(index, { nodeSelector: { pool: 'gpu' } })).toEqual(['a'])
    expect(names(index, {})).toEqual(['a', 'b'])
  })

  it('sorts the pods of a node by age, then by name', () => {
    const young = pod({ node: 'a', name: 'a-young', createdAt: '2026-01-03T00:00:00Z' })
    const second = pod({ node: 'a', name: 'old-b', createdAt: '2026-01-02T00:00:00Z' })
    const first = pod({ node: 'a', name: 'old-a', createdAt: '2026-01-02T00:00:00Z' })
    const view = indexOf([node('a')], [young, second, first]).view(FLEET_OWNER)
    expect(view.nodes[0]?.pods.map(({ name }) => name)).toEqual(['old-a', 'old-b', 'a-young'])
  })

  it('reports since when a node has not been Ready, if known', () => {
    const since = { ...node('a', { ready: false }), notReadySince: '2026-01-01T00:00:00Z' }
    const [a, b] = indexOf([since, node('b')], []).view(FLEET_OWNER).nodes
    expect(a).toMatchObject({ notReadySince: '2026-01-01T00:00:00Z' })
    expect(b).not.toHaveProperty('notReadySince')
  })

  it('reports since when a kubelet has not responded, and a condition has kept a node out of service, if they say', () => {
    const since = '2026-01-01T00:00:00Z'
    const conditions = (...all: readonly object[]): Node => ({ ...aNode('a'), status: { conditions: all } }) as Node
    const a = toFleetNode(
      conditions(
        { type: 'Ready', status: 'Unknown', lastTransitionTime: since },
        { type: 'Drained', status: 'False', lastTransitionTime: 'x' },
        { type: 'MaintenanceInProgress', status: 'True', lastTransitionTime: since },
      ),
      undefined,
      BY_STAMPS,
    )
    expect(indexOf([a], []).view(FLEET_OWNER).nodes[0]).toMatchObject({ silentSince: since, maintenanceSince: since })
    const b = toFleetNode(conditions({ type: 'Ready', status: 'True', lastTransitionTime: since }), undefined, BY_STAMPS)
    expect(b).not.toHaveProperty('silentSince')
    expect(b).not.toHaveProperty('maintenanceSince')
    const c = toFleetNode(conditions({ type: 'Ready', status: 'False', lastTransitionTime: since }), undefined, BY_STAMPS)
    expect(c).not.toHaveProperty('silentSince')
  })

  it('treats an unlisted node with a pod as not Ready and not responding', () => {
    const [a] = indexOf([], [pod({ node: 'a' })]).view(FLEET_OWNER).nodes
    expect(a).toMatchObject({ name: 'a', desired: false, ready: false, answers: false, labels: {} })
  })

  it('checks nodes without a network again when the pods move to the host network', () => {
    const index = indexOf([node('a', { taints: [{ key: 'node.kubernetes.io/network-unavailable', effect: 'NoSchedule' }] })], [])
    expect(names(index, {})).toEqual([])
    expect(names(index, { hostNetwork: true })).toEqual(['a'])
  })

  it('finds a node by its name', () => {
    const index = indexOf([node('a')], [pod({ node: 'b' })])
    expect(index.node('a')?.name).toBe('a')
    expect(index.node('b')).toBeUndefined()
  })

  it('drops a DaemonSet and adds it again', () => {
    const index = indexOf([node('a')], [pod({ node: 'a' })])
    const before = index.view(FLEET_OWNER)
    index.forget(FLEET_OWNER)
    expect(index.view(FLEET_OWNER)).toEqual(before)
  })
})

describe('nodeInView', () => {
  it.each([0, 1, 2, 3, 10, 17])('finds each of %i nodes, and no other', (count) => {
    const all = Array.from({ length: count }, (_, at) => node(`node-${at}`))
    const view = indexOf(all, []).view(FLEET_OWNER)
    expect(all.map(({ name }) => nodeInView(view, name)?.name)).toEqual(all.map(({ name }) => name))
    expect(['', 'node-', 'node-00', 'node-5x', 'zz'].map((name) => nodeInView(view, name))).toEqual(Array(5).fill(undefined))
  })
})

describe('toFleetNode', () => {
  it('keeps labels, taints and the state of the kubelet', () => {
    const taints = [{ key: 'dedicated', effect: 'NoSchedule' }]
    expect(node('a', { labels: { zone: '1' }, taints })).toEqual({
      name: 'a',
      uid: 'node-uid-a',
      labels: { zone: '1' },
      taints,
      ready: true,
      answers: true,
    })
  })

  it.each([
    [{ ready: true }, { ready: true, answers: true }],
    [{ ready: false }, { ready: false, answers: true }],
    [
      { ready: false, answers: false },
      { ready: false, answers: false },
    ],
  ])('distinguishes a kubelet that reports NotReady from a silent one: %j', (fields, want) => {
    expect(node('a', fields)).toMatchObject(want)
    expect(indexOf([node('a', fields)], []).view(FLEET_OWNER).nodes[0]).toMatchObject(want)
  })

  it('treats a node without conditions as not Ready and not responding', () => {
    expect(toFleetNode({ metadata: { name: 'a', uid: 'u', resourceVersion: '1' } }, undefined, BY_STAMPS)).toEqual({
      name: 'a',
      uid: 'u',
      labels: {},
      taints: [],
      ready: false,
      answers: false,
    })
  })

  it.each<[sentence: string, condition: Condition, want: object]>([
    ['a drain by an executor', { type: 'DrainInProgress', status: 'True', reason: 'TrancheDrain' }, { drainCondition: true }],
    ['its drain that is over', { type: 'DrainInProgress', status: 'False', reason: 'TrancheDrain' }, { drainCondition: true }],
    ['a drain by another program', { type: 'DrainInProgress', status: 'True', reason: 'Draino' }, { maintenance: 'DrainInProgress' }],
    ['a drain without a reason', { type: 'DrainInProgress', status: 'True' }, { maintenance: 'DrainInProgress' }],
    ['another condition', { type: 'Drained', status: 'True', reason: 'TrancheDrain' }, { maintenance: 'Drained' }],
  ])('counts as in maintenance only by other programs: %s', (_sentence, condition, want) => {
    const metadata = { name: 'a', uid: 'u', resourceVersion: '1' }
    const { maintenance, drainCondition } = toFleetNode({ metadata, status: { conditions: [condition] } }, undefined, BY_STAMPS)
    expect({ maintenance, drainCondition }).toEqual({ maintenance: undefined, drainCondition: undefined, ...want })
  })
})

const tainted: NodeFields = { taints: [{ key: 'dedicated', effect: 'NoSchedule' }] }

function indexOf(nodes: readonly FleetNode[], pods: readonly FleetPod[]): FleetIndex {
  const index = new FleetIndex()
  for (const each of nodes) index.nodeChanged(undefined, each)
  for (const each of pods) index.podChanged(undefined, each)
  return index
}

/** Names of the desired nodes. */
function names(index: FleetIndex, spec: PodPlacement): readonly string[] {
  return index.view({ ...FLEET_OWNER, spec: { template: { spec } } }).nodes.flatMap(({ name, desired }) => (desired ? [name] : []))
}

function node(name: string, fields: NodeFields = {}): FleetNode {
  return toFleetNode(aNode(name, fields), undefined, BY_STAMPS)
}

function pod(fields: PodFields): FleetPod {
  const kept = toFleetPod(aPod(fields), undefined, BY_STAMPS)
  if (kept === null) throw new Error('the pod is bound and owned')
  return kept
}
