import type { BudgetUse, BudgetUser, RolloutReport } from '@tranche/api-schema'
import { reportRollout } from '@tranche/reports'
import { describe, expect, it } from 'vitest'
import { permitFor } from '../../../../test/fakes/build-view.ts'
import { aReading, type FactsFields } from './build-facts.ts'

const none = { limit: 2, ours: 0, others: 0, unreachable: 0, dead: 0, exempt: 0, exemptLimit: 1, users: [] }

function used(use: BudgetUse, ...nodes: readonly string[]): BudgetUser {
  return { use, count: nodes.length, nodes }
}

describe('the budget of a release', () => {
  it.each<[string, FactsFields, RolloutReport['budget']]>([
    ['is free while every node has an available pod', { nodes: 'a:new b:old c:old' }, none],
    ['is used by a new pod that is not available', { nodes: 'a:new! b:old c:old' }, { ...none, ours: 1, users: [used('Updated', 'a')] }],
    ['is used by a node without a pod', { nodes: 'a:- b:old c:old' }, { ...none, ours: 1, users: [used('Updated', 'a')] }],
    ['is used by a terminating old pod', { nodes: 'a:old~ b:old c:old' }, { ...none, ours: 1, users: [used('Updated', 'a')] }],
    [
      'is used by others with an old pod that is not available',
      { nodes: 'a:old! b:older! c:old' },
      { ...none, others: 2, users: [used('Old', 'a', 'b')] },
    ],
    [
      'is used by a NotReady node, whatever its pod',
      { nodes: 'a:new!? b:old!¿ c:-', change: { c: { ready: false } } },
      { ...none, unreachable: 3, users: [used('Away', 'a', 'b', 'c')] },
    ],
    ['is not used by a NotReady node with an available pod', { nodes: 'a:old? b:old c:old' }, none],
    [
      'is not used by dead nodes that the policy exempts',
      { nodes: 'a:old!? b:old!? c:old', tranche: { nodes: { notReady: { exempt: 2 } } } },
      { ...none, unreachable: 2, dead: 2, exempt: 2, exemptLimit: 2 },
    ],
    [
      'is used by every dead node if more are dead than the policy exempts',
      { nodes: 'a:old!? b:old!? c:old', tranche: { nodes: { notReady: { exempt: 1 } } } },
      { ...none, unreachable: 2, dead: 2, users: [used('Dead', 'a', 'b')] },
    ],
    [
      'is not used by a Ready node in maintenance whose old pod is not available: it is one of the unreachable ones',
      { nodes: 'a:old! b:old! c:old', change: { a: { maintenance: 'Drained' } } },
      { ...none, others: 1, unreachable: 1, dead: 1, exempt: 1, users: [used('Old', 'b')] },
    ],
    [
      'is used by others after the release, even without a pod',
      { nodes: 'a:- b:new! c:new', rolloutStatus: { phase: 'Healthy' } },
      { ...none, others: 2, users: undefined },
    ],
    [
      'is used by a node whose pod is being replaced, whatever is seen of it',
      {
        nodes: 'a:new! b:old~ c:old',
        record: { permits: [permitFor('b'), { node: 'a', podUid: 'gone-a', podResourceVersion: '4' }] },
      },
      { ...none, ours: 2, users: [used('InFlight', 'a', 'b')] },
    ],
    [
      'has a limit in nodes',
      { nodes: 'a:old b:old c:old d:old', daemonSet: { updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: '60%' } } } },
      { ...none, limit: 3 },
    ],
  ])('%s', (_name, fields, budget) => {
    const report = reportRollout(aReading(fields))
    expect(report.budget).toEqual(budget)
    const { ours, others, unreachable } = report.budget!
    expect(ours + others + unreachable).toBe(report.nodes.unavailable)
  })

  it('is absent while the DaemonSet is hidden', () => {
    const hidden = { ...aReading(), daemonSet: undefined, revisions: [], fleet: undefined, notBound: 'not bound' }
    expect(reportRollout(hidden)).not.toHaveProperty('budget')
  })
})
