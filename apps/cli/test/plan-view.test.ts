import type { Forecast } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { foldNames, foldNamesWithin } from '../src/plan/fold-names.ts'
import { planManifests } from '../src/plan/plan-manifests.ts'
import { readDocuments } from '../src/lint/read-documents.ts'
import { createDrawing, type DrawingOptions } from '../src/view/reports/drawing.ts'
import { planView } from '../src/view/reports/plan-view.ts'
import { longName } from './release-pictures.ts'

const plain: DrawingOptions = { width: 80, colors: false, unicode: true, nowMs: 0 }
const forecast: Forecast = {
  nodes: [
    { name: 'node-003', batch: 1, order: 1, reason: 'superseded revision first', atSeconds: 0 },
    { name: 'node-001', batch: 2, order: 2, reason: 'oldest pod of batch 2', atSeconds: 70 },
    { name: 'node-002', batch: 2, order: 3, reason: 'oldest pod of batch 2', atSeconds: 81.5 },
    { name: 'node-004', batch: 0, order: 0, reason: 'NotReady: skipped, and updated once it is Ready' },
  ],
  etaSeconds: { low: 95, high: 104.2 },
  peakUnavailable: 1,
  maxUnavailable: 1,
  unavailable: [],
  outcome: 'Completes',
  nodesHit: 3,
  message: 'It completes if the new version runs well: 3 nodes in 2 batches.',
  batches: [
    { index: 1, nodes: 1, startSeconds: 0, endSeconds: 10, pause: 'person' },
    { index: 2, nodes: 2, startSeconds: 70, endSeconds: 92, pause: '60s' },
  ],
  assumptions: ['pods stop within 1.5 s'],
}

describe('tranche plan', () => {
  it('shows batches with folded node names, and the nodes in none', () => {
    expect(planView(forecast, createDrawing(plain), false)).toEqual([
      'It completes if the new version runs well: 3 nodes in 2 batches.',
      '  over in       1m35s to 1m44s',
      '  down at most  1 of 1 nodes',
      '',
      'BATCH  NODES  BEGINS  READY  THEN         WHICH',
      '1      1      0s      10s    approval     node-003',
      '2      2      1m10s   1m32s  waits 1m00s  node-[001-002]',
      '',
      'in no batch',
      '  - NotReady: skipped, and updated once it is Ready: node-004',
      '',
      'assumes',
      '  - pods stop within 1.5 s',
    ])
  })

  it('says how to see all nodes if the terminal is too narrow for their names', () => {
    const narrow = planView(forecast, createDrawing({ ...plain, width: 50 }), false)
    expect(narrow.slice(5, 9)).toEqual([
      'BATCH  NODES  BEGINS  READY  THEN         WHICH',
      '1      1      0s      10s    approval     node-003',
      '2      2      1m10s   1m32s  waits 1m00s  2 nodes',
      '-o wide shows all nodes',
    ])
    expect(planView(forecast, createDrawing(plain), false).join('\n')).not.toContain('-o wide')
  })

  it('shows node by node with wide output', () => {
    const lines = planView(forecast, createDrawing(plain), true)
    expect(lines).toContain('1      node-003  1      0s     superseded revision first')
    expect(lines).toContain('3      node-002  2      1m21s  oldest pod of batch 2')
  })

  it('cuts no reason with wide output', () => {
    const reason = 'nodes.order[0] of the policy, oldest pod first, which is a long text that no narrow terminal has room for'
    const nodes = forecast.nodes.map((node) => ({ ...node, reason }))
    expect(planView({ ...forecast, nodes }, createDrawing(plain), true)).toContain(`1      node-003  1      0s     ${reason}`)
  })

  it('says how many of the nodes are down before the release begins', () => {
    const unavailable = [{ atSeconds: 0, nodes: 21 }]
    const lines = planView({ ...forecast, peakUnavailable: 21, maxUnavailable: 3, unavailable }, createDrawing(plain), false)
    expect(lines).toContain('  down at most  21 of 3 nodes; 21 are down already')
  })

  it('lists no node if there is nothing to release', () => {
    const nodes = [{ name: 'node-001', batch: 0, order: 0, reason: 'nothing is released' }]
    const idle: Forecast = { ...forecast, nodes, nodesHit: 0, batches: [], etaSeconds: null, message: 'Nothing is to be done.' }
    expect(planView(idle, createDrawing(plain), false)).toEqual(['Nothing is to be done.', '', 'assumes', '  - pods stop within 1.5 s'])
  })

  it('omits an unknown duration', () => {
    const stopped: Forecast = { ...forecast, outcome: 'Stops', etaSeconds: null, message: 'It stops.' }
    expect(planView(stopped, createDrawing(plain), false).join('\n')).not.toContain('over in')
  })
})

describe('dead nodes in a plan', () => {
  const lines = (dead: Forecast['dead'], fields: Partial<Forecast> = {}): string =>
    planView({ ...forecast, ...fields, dead }, createDrawing(plain), false).join('\n')

  it('have a count of their own, below the duration, which does not depend on them', () => {
    expect(lines({ count: 2, exempt: 2, exemptLimit: 4 })).toContain(
      '\n  over in       1m35s to 1m44s\n  down at most  1 of 1 nodes\n  dead          2 nodes, updated on return (at most 4 cost no budget)\n',
    )
  })

  it('count if there are more than the policy exempts, also where nothing is updated', () => {
    const nothing = { outcome: 'Blocked', nodes: [], batches: [], etaSeconds: null } as const
    expect(lines({ count: 5, exempt: 0, exemptLimit: 4 }, nothing)).toContain('5 nodes, updated on return (all count as down: more than 4)')
  })

  it('are not mentioned where there are none', () => {
    expect(lines({ count: 0, exempt: 0, exemptLimit: 4 })).not.toContain('dead')
  })
})

it('a plan says of a step that matches no node that it has no node, not that it is ready', () => {
  const batches = [{ index: 1, nodes: 0, startSeconds: 0, endSeconds: 3, pause: 'person' }, ...forecast.batches.slice(1)]
  expect(planView({ ...forecast, batches }, createDrawing(plain), false)[5]).toBe('1      0      0s      no node  approval     node-003')
})

it.each([40, 80, 120])('a plan of 5,000 nodes with long names marks each cut in %d columns', (width) => {
  const names = Array.from({ length: 5000 }, (_, at) => longName(at * 3))
  const nodes = names.map((name, at) => ({
    name,
    batch: at < 4000 ? 2 : 0,
    order: at < 4000 ? at + 1 : 0,
    reason: at < 4000 ? '' : 'dead',
  }))
  const lines = planView({ ...forecast, nodes }, createDrawing({ ...plain, width }), false)
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width)
  const listed = lines.filter((line) => line.startsWith('2 ') || line.includes('- dead'))
  expect(listed).toHaveLength(2)
  for (const line of listed) expect(line).toMatch(width === 40 ? /…$| 1000 nodes$/ : / \+\d+ more$| 4000 nodes$/)
})

describe('names of many nodes', () => {
  it.each([
    [['node-003', 'node-001', 'node-002', 'node-009'], 19, 'node-[001-003,009]'],
    [['node-003', 'node-001', 'node-002', 'node-009'], 22, 'node-[001-003,009]'],
    [['node-003', 'node-001', 'node-002', 'node-009'], 17, 'node-001 +3 more'],
    [['node-009', 'node-007', 'node-001', 'node-002', 'node-005'], 23, 'node-[001-002] +3 more'],
    [['node-100', 'node-20', 'node-3'], 14, 'node-3 +2 more'],
    [['a-very-long-name'], 5, 'a-very-long-name'],
    [['a-very-long-name', 'another-one'], 10, '2 nodes'],
  ])('%j are folded within %d columns', (names, width, text) => {
    expect(foldNamesWithin(names, width)).toBe(text)
  })

  it.each([
    [['node-003', 'node-001', 'node-002', 'node-009'], ['node-[001-003,009]']],
    [
      ['node-9', 'node-10'],
      ['node-9', 'node-10'],
    ],
    [['ip-10-0-0-1.internal', 'ip-10-0-0-2.internal'], ['ip-10-0-0-[1-2].internal']],
    [
      ['edge', 'core'],
      ['core', 'edge'],
    ],
    [[], []],
  ])('%j fold to %j', (names, folded) => {
    expect(foldNames(names)).toEqual(folded)
  })
})

describe('manifests to plan', () => {
  const metadata = { name: 'agent', namespace: 'demo', uid: 'u', resourceVersion: '1' }
  const spec = {
    workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
    strategy: { canary: { steps: [{ replicas: '100%' }] } },
  }
  const snapshot = { rollout: { metadata, spec } } as never

  it('are those of the release; others are ignored', () => {
    const text =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: agent}\n---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\nspec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: agent, image: a:v2}]}}}\n'
    expect(Object.keys(planManifests(readDocuments('-', text), snapshot))).toEqual(['daemonSet'])
  })

  it('are refused if none belongs to the release', () => {
    expect(() => planManifests(readDocuments('-', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n'), snapshot)).toThrow(
      'no document affects Rollout demo/agent',
    )
  })
})
