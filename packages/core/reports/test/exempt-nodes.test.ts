import { wantedAllowance } from '../../planner/src/release/progress/wanted-allowance.ts'
import { waitingFor } from '../../planner/src/release/waiting-for.ts'
import { reportRollout } from '@tranche/reports'
import { describe, expect, it } from 'vitest'
import { aView } from '../../../../test/fakes/build-view.ts'
import { aReading } from './build-facts.ts'

const permits = [{ node: 'a', podUid: 'gone-a', podResourceVersion: '4' }]

describe('a dead node with a stable pod that a carried permit has in flight', () => {
  it('is no exempt node in the budget of a report, because the executor counts it', () => {
    expect(reportRollout(aReading({ nodes: 'a:old!? b:old c:old', record: { permits } })).budget).toMatchObject({
      unreachable: 1,
      exempt: 0,
    })
  })

  it('is named by the release that waits for it', () => {
    const view = aView({
      nodes: 'a:old!? b:old c:old d:old e:old',
      record: { permits, limit: 1 },
      daemonSet: { updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: 1 } } },
    })
    expect(waitingFor(view, wantedAllowance(view))).toMatchObject({ reason: 'BudgetUsedUp', nodes: ['a'] })
  })
})

it('a report counts by the revisions left behind that the executor reads, not by those of a newer status', () => {
  const reading = aReading({ nodes: 'a:older!? b:old c:old', rolloutStatus: { formerRevisions: ['older'] } })
  expect(reading.release?.spec.tranche?.formerRevisions).toBeUndefined()
  expect(reportRollout(reading).budget).toMatchObject({ unreachable: 1, exempt: 0 })
})
