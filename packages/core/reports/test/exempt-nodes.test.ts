import { explainNode, reportNodes, reportRevisions, reportRollout } from '@tranche/reports'
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

it('a report calls a revision former once the release that replaced it is over, on nodes that it left too', () => {
  const over = aReading({
    nodes: 'a:new b:new c:old!?',
    spec: { batchPartition: undefined },
    rolloutStatus: { phase: 'Healthy', stableRevision: 'new', formerRevisions: ['old'] },
  })
  expect(over.release?.spec.tranche).not.toHaveProperty('formerRevisions')
  expect(reportRevisions(over).map(({ revision, role }) => [revision, role])).toEqual([
    ['new', 'stable'],
    ['old', 'former'],
  ])
  expect(reportNodes(over).find(({ name }) => name === 'c')?.role).toBe('former')
  expect(explainNode(over, 'c')?.facts).toContainEqual({ name: 'revision', value: 'old (former)' })
  const never = { ...over, rollout: { ...over.rollout, status: { ...over.rollout.status!, formerRevisions: ['older'] } } }
  expect(reportRevisions(never)[1]?.role).toBe('superseded')
})
