import type { Node } from '@tranche/kube-types'
import { buildNode, nodeName, planTaints, readPodSettings } from '@tranche/sim-nodes'
import { describe, expect, it } from 'vitest'

describe('readPodSettings', () => {
  const read = (annotations: Readonly<Record<string, string>>, node = 'node-001'): unknown =>
    readPodSettings(
      Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`sim.tranche.dev/${name}`, value])),
      node,
      'agent:v1',
    )
  const defaults = {
    startMs: 1000,
    readinessMs: 0,
    stopMs: 500,
    flapMs: 5000,
    lateMs: 60_000,
    healMs: 30_000,
    nodeHealMs: 0,
    termNotReady: true,
    mayFail: true,
  }

  it.each<[name: string, annotations: Readonly<Record<string, string>>, want: object]>([
    ['without annotations', {}, {}],
    [
      'takes every duration',
      { 'start-ms': '1', 'readiness-ms': '2', 'stop-ms': '3', 'flap-ms': '4', 'late-ms': '5', 'heal-ms': '6', 'node-heal-ms': '7' },
      { startMs: 1, readinessMs: 2, stopMs: 3, flapMs: 4, lateMs: 5, healMs: 6, nodeHealMs: 7 },
    ],
    ['takes no words for durations', { 'start-ms': 'soon', 'stop-ms': '-1' }, {}],
    ['is slow on slow nodes', { 'slow-nodes': '00[12]$', 'start-ms': '5' }, { startMs: 10_000 }],
    ['is as slow as it says', { 'slow-nodes': '.', 'slow-ms': '7' }, { startMs: 7 }],
    ['is not slow elsewhere', { 'slow-nodes': '002$' }, {}],
    ['stays ready while it stops', { 'term-notready': 'false' }, { termNotReady: false }],
    ['fails on bad nodes', { 'bad-nodes': '001' }, {}],
    ['does not fail elsewhere', { 'bad-nodes': '002' }, { mayFail: false }],
    ['takes an expression that cannot be read for none', { 'bad-nodes': '(', 'slow-nodes': '(' }, {}],
  ])('%s', (_name, annotations, want) => expect(read(annotations)).toEqual({ ...defaults, ...want }))

  it('evaluates any expression in linear time', () => {
    expect(read({ 'bad-nodes': '^(a+)+$' }, `${'a'.repeat(200)}-1`)).toMatchObject({ mayFail: false })
  })

  it('spreads starts by node and image, deterministically', () => {
    const starts = Array.from({ length: 50 }, (_, at) => (read({ 'jitter-ms': '1000' }, `node-${at}`) as { startMs: number }).startMs)
    expect(starts.every((ms) => ms >= 1000 && ms < 2000)).toBe(true)
    expect(new Set(starts).size).toBeGreaterThan(40)
    expect(read({ 'jitter-ms': '1000' }, 'node-7')).toMatchObject({ startMs: starts[7] })
  })
})

describe('buildNode', () => {
  it('is ready and belongs to one of three zones', () => {
    expect([1, 2, 3, 4].map((number) => (buildNode('n', number, 0) as Node).metadata.labels?.['topology.kubernetes.io/zone'])).toEqual([
      'zone-a',
      'zone-b',
      'zone-c',
      'zone-a',
    ])
    expect((buildNode('n', 1, 0) as Node).status?.conditions?.at(-1)).toMatchObject({ type: 'Ready', status: 'True' })
  })

  it('has a name with as many digits as the last node', () => {
    expect([nodeName(1, 30), nodeName(7, 5000), nodeName(5000, 5000)]).toEqual(['node-001', 'node-0007', 'node-5000'])
  })
})

describe('planTaints', () => {
  const foreign = { key: 'gpu', effect: 'NoSchedule' }
  const unreachable = ['NoSchedule', 'NoExecute'].map((effect) => ({ key: 'node.kubernetes.io/unreachable', effect }))
  const cordon = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }
  const node = (ready: string, taints: readonly { key: string; effect: string }[], unschedulable = false): Node => ({
    metadata: { name: 'n', uid: 'n', resourceVersion: '1' },
    spec: { taints, unschedulable },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  })

  it.each<[name: string, node: Node, want: unknown]>([
    ['leaves a healthy node alone', node('True', [foreign]), undefined],
    ['taints a node that is unreachable', node('Unknown', [foreign]), [foreign, ...unreachable]],
    ['clears the taints once it is back', node('True', [...unreachable, foreign]), [foreign]],
    ['taints a cordoned node', node('True', [], true), [cordon]],
    ['clears the taint after the cordon', node('True', [cordon]), []],
    ['leaves a node without conditions alone', { ...node('True', unreachable), status: {} }, undefined],
  ])('%s', (_name, one, want) => expect(planTaints(one)).toEqual(want))
})
