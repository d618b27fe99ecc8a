import { reportRollout } from '@tranche/reports'
import { describe, expect, it } from 'vitest'
import { aReading } from './build-facts.ts'

const permits = [{ node: 'a', podUid: 'gone-a', podResourceVersion: '4' }]

describe('a dead node with a stable pod that a carried permit has in flight', () => {
  it('is no exempt node in the budget of a report, because the executor counts it', () => {
    expect(reportRollout(aReading({ nodes: 'a:old!? b:old c:old', record: { permits } })).budget).toMatchObject({
      unreachable: 1,
      exempt: 0,
    })
  })
})

it('a report counts by the former revisions that the executor reads, not by those of a newer status', () => {
  const reading = aReading({ nodes: 'a:older!? b:old c:old', rolloutStatus: { formerRevisions: ['older'] } })
  expect(reading.release?.spec.tranche?.formerRevisions).toBeUndefined()
  expect(reportRollout(reading).budget).toMatchObject({ unreachable: 1, exempt: 0 })
})
