import { wantedAllowance } from '@tranche/planner'
import { expect, it } from 'vitest'
import { aView } from '../../../../../test/fakes/build-view.ts'
import { waitingFor } from '../../src/release/waiting-for.ts'

it('a release that waits for a dead node in flight names it, though the node runs the stable revision', () => {
  const view = aView({
    nodes: 'a:old!? b:old c:old d:old e:old',
    record: { permits: [{ node: 'a', podUid: 'gone-a', podResourceVersion: '4' }], limit: 1 },
    daemonSet: { updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: 1 } } },
  })
  expect(waitingFor(view, wantedAllowance(view))).toMatchObject({ reason: 'BudgetUsedUp', nodes: ['a'] })
})

it('a release that waits for new pods names no node twice if those nodes use the whole budget', () => {
  const view = aView({ nodes: 'a:- b:- c:old d:old e:old', spec: { batches: [{ canaryReplicas: 3 }] } })
  expect(waitingFor(view, wantedAllowance(view))).toMatchObject({ reason: 'Upgrading', message: 'waiting for new pods on a, b' })
})

it('a release that waits for new pods names no node that uses the budget while there is some left', () => {
  const view = aView({ nodes: 'a:- b:old! c:old d:old e:old', record: { limit: 3 }, daemonSet: limitOf(3) })
  expect(waitingFor(view, wantedAllowance(view))?.message).toBe('waiting for new pods on a')
})

it('a release that waits for the last new pods of its batch names no node that uses the budget, because it takes none down', () => {
  const view = aView({ nodes: 'a:- b:new c:old! d:old e:old', daemonSet: limitOf(2) })
  expect(waitingFor(view, wantedAllowance(view))?.message).toBe('waiting for new pods on a')
})

function limitOf(maxUnavailable: number) {
  return { updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable } } } as const
}
