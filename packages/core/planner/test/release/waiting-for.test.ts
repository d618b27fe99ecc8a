import { wantedAllowance } from '@tranche/planner'
import { toFleetView } from '@tranche/fleet'
import { describe, expect, it } from 'vitest'
import { aView, nodes as nodesOf } from '../../../../../test/fakes/build-view.ts'
import { waitingFor } from '../../src/release/waiting-for.ts'

it('a release that waits for a dead node in flight names it, though the node runs the stable revision', () => {
  const view = aView({
    nodes: 'a:old!? b:old c:old d:old e:old',
    record: { permits: [{ node: 'a', podUid: 'gone-a', podResourceVersion: '4' }], limit: 1 },
    daemonSet: { updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: 1 } } },
  })
  expect(waitingFor(view, wantedAllowance(view))).toMatchObject({ reason: 'BudgetUsedUp', nodes: ['a'] })
})

describe('a release without a node in reach', () => {
  const exclude = (...values: readonly string[]) => ({ matchExpressions: [{ key: 'name', operator: 'In' as const, values }] })
  it.each([
    [
      'that are NotReady',
      'a:old? b:old?',
      undefined,
      ['a', 'b'],
      '(NotReady or in maintenance: a, b); the release continues once one of them is back, or ends with an abort',
    ],
    [
      'that the policy excludes',
      'a:old b:old',
      { exclude: [exclude('a', 'b')] },
      ['a', 'b'],
      '(excluded by the policy: a, b); the release continues once the policy excludes fewer nodes, or ends with an abort',
    ],
    [
      'for both reasons',
      'a:old? b:old',
      { exclude: [exclude('b')] },
      ['a', 'b'],
      '(NotReady or in maintenance: a; excluded by the policy: b); the release continues once one of them is back, or the policy excludes fewer nodes, or ends with an abort',
    ],
  ])('names the nodes %s, and says what ends the wait (G6)', (_why, nodes, rules, names, text) => {
    const view = aView({ nodes, record: { state: 'open' }, ...(rules !== undefined && { tranche: { nodes: rules } }) })
    expect(waitingFor(view, wantedAllowance(view))).toEqual({
      reason: 'NoNodeInReach',
      message: `no node of the batch is in reach, and no desired node runs the revision ${text}`,
      nodes: names,
      since: expect.any(String),
    })
  })

  it('does not end where no node is desired, because dead nodes are left (G3)', () => {
    const fleet = toFleetView(nodesOf('a:old? b:old?').nodes.map((node) => ({ ...node, desired: false })))
    const { batchPartition: _last, ...releasePlan } = aView().release.spec.releasePlan
    const view = aView({ record: { state: 'open' }, status: { phase: 'Finalizing' }, view: { fleet } })
    const release = { ...view.release, spec: { ...view.release.spec, releasePlan } }
    const last = { ...view, release }
    expect(waitingFor(last, wantedAllowance(last))).toMatchObject({ reason: 'NoNodeInReach', nodes: ['a', 'b'] })
  })
})
