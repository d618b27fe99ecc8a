import type { NodeReport } from '@tranche/api-schema'
import { explainNode, reportNodes, reportNodesUntil, reportRevisions } from '@tranche/reports'
import { describe, expect, it } from 'vitest'
import { permitFor } from '../../../../test/fakes/build-view.ts'
import { aReading, type FactsFields } from './build-facts.ts'

const upTo = (exempt: number | string, after?: string): FactsFields['tranche'] => ({
  nodes: { notReady: { exempt, ...(after !== undefined && { after }) } },
})
const inFlight = { permits: [{ ...permitFor('a'), podUid: 'gone' }] }

describe('a node out of reach without an available pod', () => {
  it.each<[string, FactsFields, NodeReport['budget']]>([
    [
      'costs no budget: it was lost before its update, and few are dead',
      { nodes: 'a:old!? b:old!? c:old', tranche: upTo(2) },
      {
        counts: false,
        reason: 'Exempt',
        message: 'costs no budget: it was lost before its update, and nodes.notReady.exempt leaves out up to 2 dead nodes; 2 are dead',
      },
    ],
    [
      'costs budget where more are dead than the policy exempts',
      { nodes: 'a:old!? b:old!? c:old', tranche: upTo(1) },
      {
        counts: true,
        reason: 'TooManyDead',
        message: 'costs budget: 2 nodes are dead, and nodes.notReady.exempt leaves out at most 1, so all of them count',
      },
    ],
    [
      'costs budget where the policy exempts none',
      { nodes: 'a:old!? b:old c:old', tranche: upTo(0) },
      {
        counts: true,
        reason: 'TooManyDead',
        message: 'costs budget: 1 node is dead, and nodes.notReady.exempt leaves out at most 0, so all of them count',
      },
    ],
    ['costs budget while its pod is replaced', { nodes: 'a:old!? b:old c:old', record: inFlight }, reason('InFlight')],
    [
      'costs budget while its record says that its pod is replaced',
      { nodes: 'a:new!? b:old c:old', record: inFlight },
      {
        counts: true,
        reason: 'InFlight',
        message:
          'costs budget until it is back, or its Node object is deleted: it went away while its pod was replaced, or before executors recorded the new one',
      },
    ],
    ['costs budget with a revision that was never stable', { nodes: 'a:other!? b:old c:old' }, reason('NeverStable')],
    [
      'costs budget with a revision that was never stable, whatever was stable once',
      { nodes: 'a:other!? b:old c:old', tranche: { formerRevisions: ['older'] } },
      reason('NeverStable'),
    ],
    [
      'costs no budget with a former revision',
      { nodes: 'a:older!? b:old c:old', tranche: { formerRevisions: ['older'] } },
      reason('Exempt'),
    ],
    ['costs budget after its update', { nodes: 'a:new!? b:old c:old' }, reason('Updated')],
    ['costs budget without a pod', { nodes: 'a:- b:old c:old', change: { a: { ready: false, answers: false } } }, reason('NoPod')],
    ['costs no budget if another client deleted its stable pod', { nodes: 'a:old~? b:old c:old' }, reason('Exempt')],
    [
      'costs budget until it has been NotReady for long enough',
      { nodes: 'a:old!¿ b:old c:old', change: { a: { notReadyFromMs: 0 } }, tranche: upTo('5%', '2h') },
      { counts: true, reason: 'NotDeadYet', message: 'costs budget until it has been NotReady for 2h (nodes.notReady.after)' },
    ],
    [
      'costs no budget in maintenance, although it is Ready',
      { nodes: 'a:old! b:old c:old', change: { a: { maintenance: 'Drained' } } },
      reason('Exempt'),
    ],
  ])('%s', (_name, { tranche, ...fields }, budget) => {
    const facts = aReading({ ...fields, tranche: { release: 'r1', canaryRevision: 'new', stableRevision: 'old', ...tranche } })
    expect(reportNodes(facts)[0]).toMatchObject({ name: 'a', budget })
    expect(explainNode(facts, 'a')?.facts).toContainEqual({ name: 'budget', value: reportNodes(facts)[0]?.budget?.message })
  })

  it.each<[string, FactsFields]>([
    ['its pod is available', { nodes: 'a:old?' }],
    ['it is Ready', { nodes: 'a:old!' }],
    ['no release runs', { nodes: 'a:old!?', rolloutStatus: { phase: 'Healthy' } }],
  ])('has no such report if %s', (_name, fields) => {
    expect(reportNodes(aReading(fields))[0]).not.toHaveProperty('budget')
  })

  it('counts by its new pod while an old one of a revision that was never stable terminates', () => {
    const pods = ['a:other~?', 'a:new!?'].flatMap((nodes) => aReading({ nodes }).fleet!.nodes.flatMap((node) => node.pods))
    const facts = aReading({ nodes: 'a:new!? b:old', change: { a: { pods } }, tranche: { canaryRevision: 'new', stableRevision: 'old' } })
    expect(reportNodes(facts)[0]?.budget).toEqual(reason('Updated'))
  })

  it('gets another report when another node dies', () => {
    const two = aReading({ nodes: 'a:old!? b:old!? c:old', tranche: { canaryRevision: 'new', stableRevision: 'old', ...upTo(1) } })
    const nodes = two.fleet!.nodes.map((node) => (node.name === 'b' ? { ...node, pods: [] } : node))
    const one = { ...two, fleet: { ...two.fleet!, nodes, blocks: [nodes] } }
    expect([one, two].map((facts) => reportNodes(facts)[0]?.budget?.counts)).toEqual([false, true])
  })

  it('has its report until it counts as dead', () => {
    const facts = aReading({ nodes: 'a:old!¿ b:old', tranche: { canaryRevision: 'new', stableRevision: 'old', ...upTo(1, '2h') } })
    const from = aReading({
      nodes: 'a:old!¿ b:old',
      change: { a: { notReadyFromMs: facts.monotonicMs - 1_000 } },
      tranche: facts.release!.spec.tranche,
    })
    expect(reportNodesUntil(from).changesAtMs).toBe(from.nowMs + 7_200_000 - 1_000)
  })
})

describe('the role of a revision', () => {
  const tranche = { release: 'r1', canaryRevision: 'new', stableRevision: 'old', formerRevisions: ['older', 'old', 'new'] }

  it.each([
    ['stable, although it was stable before as well', 'old', 'stable'],
    ['canary, although it was stable once', 'new', 'canary'],
    ['former: it was stable once', 'older', 'former'],
    ['superseded: it was never stable', 'other', 'superseded'],
  ])('is %s', (_name, hash, role) => {
    expect(reportNodes(aReading({ nodes: `a:${hash}`, tranche }))).toEqual([expect.objectContaining({ role })])
  })

  it('changes with the former revisions of the release', () => {
    const before = aReading({ nodes: 'a:older b:old', tranche: { ...tranche, formerRevisions: [] } })
    const after = { ...aReading({ nodes: 'a:older b:old', tranche }), fleet: before.fleet }
    expect([before, after].map((facts) => reportNodes(facts)[0]?.role)).toEqual(['superseded', 'former'])
  })

  it('is none for a former revision that no node runs', () => {
    const facts = aReading({ nodes: 'a:old b:new', tranche: { ...tranche, formerRevisions: ['older'] } })
    const [known] = facts.revisions
    const older = { ...known!, metadata: { ...known!.metadata, labels: { 'controller-revision-hash': 'older' } } }
    expect(reportRevisions({ ...facts, revisions: [older] })).toEqual([expect.objectContaining({ revision: 'older', role: 'none' })])
  })
})

function reason(word: NonNullable<NodeReport['budget']>['reason']): NodeReport['budget'] {
  return expect.objectContaining({ counts: word !== 'Exempt', reason: word }) as NodeReport['budget']
}
