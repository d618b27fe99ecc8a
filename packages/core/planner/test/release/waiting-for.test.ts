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
