import { toFleetView } from '@tranche/fleet'
import { deletablePod, planBatchRelease, type ReleaseView } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { aView, onceSaid, permitFor, planOnceSaid, type ViewFields } from '../../../../../test/fakes/build-view.ts'

const permitted: ViewFields = { record: { permits: [permitFor('a'), permitFor('b')] } }

function waitOf(view: ReleaseView): unknown {
  return onceSaid(view).release.status?.waiting
}

describe('pods that executors may delete', () => {
  it.each([
    ['the first that is not terminating', permitted, 'pod-a'],
    ['the next where the first is terminating', { ...permitted, nodes: 'a:old~ b:old c:old d:old e:old' }, 'pod-b'],
    ['none while the budget is used up', { ...permitted, nodes: 'a:old b:old c:old! d:old! e:old' }, undefined],
    ['none without a permit', {}, undefined],
    [
      'none while a check keeps a node',
      { record: { ...permitted.record, blocked: [{ node: 'a', reason: 'NoRoom', message: '' }] } },
      undefined,
    ],
    [
      'none under a rule for the values of a label',
      { ...permitted, tranche: { nodes: { spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] } } },
      undefined,
    ],
    ['none while the job queue is out', { ...permitted, view: { queueOutage: 'refused' } }, undefined],
    ['none while the record is being revoked', { record: { ...permitted.record, state: 'voiding' } }, undefined],
  ] satisfies readonly (readonly [string, ViewFields, string | undefined])[])('are %s', (_which, fields, uid) => {
    expect(deletablePod(aView(fields))).toBe(uid)
  })

  it('need a person once they have been there for two minutes', () => {
    const view = aView({ ...permitted, view: { undeletedSinceMs: 100_000 - 119_999 } })
    expect(waitOf(view)).toMatchObject({ reason: 'Upgrading' })
    expect(planOnceSaid(view)).toMatchObject({ kind: 'wait', recheckAfterMs: 1 })
    const slow: ViewFields = { ...permitted, daemonSet: { minReadySeconds: 60 }, view: { undeletedSinceMs: 100_000 - 120_000 } }
    expect(waitOf(aView(slow))).toMatchObject({ reason: 'Upgrading' })
    expect(waitOf({ ...view, undeletedSinceMs: 100_000 - 120_000 })).toMatchObject({
      reason: 'NotDeleted',
      message: expect.stringMatching(
        /^2 more nodes are to be updated, but for 2 minutes executors have not deleted pods that they may delete, on a, b; .*tranche doctor/,
      ),
      nodes: ['a', 'b'],
    })
  })

  it('are looked for again once the clock alone makes old pods available that use up the budget', () => {
    const { fleet, ...rest } = aView({ ...permitted, daemonSet: { minReadySeconds: 60 } })
    const nodes = fleet.nodes.map((node) =>
      ['c', 'd'].includes(node.name)
        ? { ...node, pods: node.pods.map((pod) => ({ ...pod, readyFromMs: rest.monotonicMs - 59_000 })) }
        : node,
    )
    const view = { ...rest, fleet: toFleetView(nodes) }
    expect(waitOf(view)).toMatchObject({ reason: 'BudgetUsedUp' })
    expect(planOnceSaid(view)).toMatchObject({ kind: 'wait', recheckAfterMs: 1_000 })
    expect(deletablePod(view)).toBeUndefined()
    expect(deletablePod({ ...view, monotonicMs: view.monotonicMs + 1_000 })).toBe('pod-a')
  })

  it('are not named where a check keeps them', () => {
    const blocked = [{ node: 'a', reason: 'NoRoom', message: 'no room' }]
    const view = aView({ record: { ...permitted.record, blocked }, view: { undeletedSinceMs: -900_000 } })
    expect(waitOf(view)).toMatchObject({ reason: 'NoRoom' })
    expect(planBatchRelease(view).kind).toBe('writeStatus')
  })
})
