import type { FlightRecord, Permit } from '@tranche/api-schema'
import {
  type Allowance,
  changePermits,
  openRecord,
  permitId,
  recordPatch,
  recordTouches,
  type TouchAnswer,
  revokeRecord,
  widenRecord,
  withHolds,
} from '@tranche/fence'
import { compareResourceVersions } from '@tranche/kube-types'
import { applyPatch, aRecord } from '@tranche/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const version = fc.integer({ min: 1, max: 10_500 }).map(String)
const permit = fc.record({ node: node(), podUid: fc.integer({ min: 0, max: 20 }).map((at) => `pod-${at}`), podResourceVersion: version })
const permits = fc.uniqueArray(permit, { maxLength: 8, selector: permitId })
const allowance: fc.Arbitrary<Allowance> = fc.record({
  workloadUid: fc.constantFrom('first', 'second'),
  generation: fc.integer({ min: 1, max: 9 }),
  revision: fc.constantFrom('v2', 'v3'),
  size: fc.nat(5),
  partition: fc.nat(5),
  limit: fc.integer({ min: 1, max: 4 }),
})
const answer: fc.Arbitrary<TouchAnswer> = fc.oneof(
  { weight: 4, arbitrary: version.map((resourceVersion) => ({ kind: 'standing' as const, resourceVersion })) },
  { weight: 2, arbitrary: fc.constant({ kind: 'executed' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'unclear' as const, why: 'no answer' }) },
)
const record = fc
  .record({ allowance, permits, watermark: version, state: fc.constantFrom<FlightRecord['state']>('open', 'voiding', 'stopped') })
  .map(({ allowance: scope, ...fields }) => aRecord({ ...scope, ...fields }))

/** One write, decided on a state that was read. */
type Decision = (read: FlightRecord) => FlightRecord
const decision: fc.Arbitrary<Decision> = fc.oneof(
  fc.record({ remove: permits, append: permits, restsOn: fc.array(version, { maxLength: 3 }) }).map(
    (change): Decision =>
      (read) =>
        changePermits(read, change),
  ),
  fc.constant<Decision>((read) => revokeRecord(read, [{ reason: 'Paused', id: '1' }])),
  fc.constant<Decision>((read) => withHolds(read, [{ reason: 'Paused', id: '2' }])),
  fc.tuple(allowance, version).map(
    ([to, seen]): Decision =>
      (read) =>
        openRecord(read, to, seen),
  ),
  allowance.map(
    (to): Decision =>
      (read) =>
        widenRecord(read, to),
  ),
  fc.infiniteStream(answer).map(
    (answers): Decision =>
      (read) =>
        recordTouches(read, answered(read, answers)),
  ),
)

describe('the record, whichever process writes it', () => {
  it('accepts one write of all that were decided on one state, and no other ever after (F8, F9, G8)', () => {
    fc.assert(
      fc.property(
        record,
        fc.array(decision, { minLength: 2, maxLength: 6 }),
        fc.array(decision, { maxLength: 4 }),
        (first, concurrent, later) => {
          const read = homeOf(first)
          const patches = concurrent.map((decide) => recordPatch(read, decide(first)))
          let home = applyPatch(read, patches[0]!)!
          for (const decide of [null, ...later]) {
            if (decide !== null) home = applyPatch(home, recordPatch(home, decide(home.status.flight)))!
            for (const patch of patches) expect(applyPatch(home, patch)).toBeNull()
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  it('belongs to one BatchRelease: a write for a deleted one of the same name fails (F11)', () => {
    fc.assert(
      fc.property(record, decision, (first, decide) => {
        const again = { ...homeOf(first), metadata: { uid: 'recreated', resourceVersion: '9' } }
        expect(applyPatch(again, recordPatch(homeOf(first), decide(first)))).toBeNull()
      }),
    )
  })

  it('rests on ever newer pods: its watermark never falls, and covers the versions of each write (F2)', () => {
    fc.assert(
      fc.property(
        record,
        fc.array(decision, { maxLength: 12 }),
        permits,
        fc.array(version, { maxLength: 4 }),
        (first, decisions, append, restsOn) => {
          let now = first
          for (const decide of decisions) {
            const next = decide(now)
            expect(compareResourceVersions(next.watermark, now.watermark)).toBeGreaterThanOrEqual(0)
            now = next
          }
          const { watermark } = changePermits(now, { remove: [], append, restsOn })
          for (const seen of restsOn) expect(compareResourceVersions(watermark, seen)).toBeGreaterThanOrEqual(0)
        },
      ),
    )
  })

  it('keeps the order of remaining permits and appends new ones (F3)', () => {
    fc.assert(
      fc.property(record, permits, permits, (first, remove, append) => {
        const after = changePermits(first, { remove, append, restsOn: [] }).permits
        const gone = new Set(remove.map(permitId))
        expect(after).toEqual([...first.permits.filter((one) => !gone.has(permitId(one))), ...append])
      }),
    )
  })

  it('inherits every unsettled permit in a rollover, and loses none by opening or widening (F11, G7)', () => {
    fc.assert(
      fc.property(record, allowance, allowance, (first, to, wider) => {
        const revoked = revokeRecord(first, [{ reason: 'RevisionChanged', id: 'v3' }])
        expect([revoked, openRecord(revoked, to, '1'), widenRecord(openRecord(revoked, to, '1'), wider)].map((one) => one.permits)).toEqual(
          [first.permits, first.permits, first.permits],
        )
      }),
    )
  })
})

describe('touching the pods of a record', () => {
  it('removes exactly the standing ones; a stop waits until each touch has a clear answer (F7, F8, G9)', () => {
    fc.assert(
      fc.property(record, fc.infiniteStream(answer), fc.boolean(), (first, answers, all) => {
        const touched = answered(first, answers).slice(0, all ? undefined : -1)
        const after = recordTouches(first, touched)
        const standing = new Set(touched.filter((one) => one.answer.kind === 'standing').map((one) => permitId(one.permit)))
        expect(after.permits).toEqual(first.permits.filter((one) => !standing.has(permitId(one))))
        const clear = touched.length === first.permits.length && touched.every((one) => one.answer.kind !== 'unclear')
        expect(after.state).toBe(first.state === 'voiding' && clear ? 'stopped' : first.state)
      }),
      { numRuns: 500 },
    )
  })

  it('makes the record rest on the versions of the touches, so that no lagging view permits such a pod again (F2, F7)', () => {
    fc.assert(
      fc.property(record, fc.infiniteStream(answer), (first, answers) => {
        const touched = answered(first, answers)
        const { watermark } = recordTouches(first, touched)
        for (const one of touched) {
          if (one.answer.kind === 'standing')
            expect(compareResourceVersions(watermark, one.answer.resourceVersion)).toBeGreaterThanOrEqual(0)
        }
      }),
    )
  })
})

function homeOf(flight: FlightRecord) {
  return { metadata: { uid: 'release', resourceVersion: '7' }, status: { flight } }
}

function answered(read: FlightRecord, answers: Iterable<TouchAnswer>): readonly { permit: Permit; answer: TouchAnswer }[] {
  const stream = answers[Symbol.iterator]()
  return read.permits.map((one) => ({ permit: one, answer: stream.next().value as TouchAnswer }))
}

function node(): fc.Arbitrary<string> {
  return fc.integer({ min: 0, max: 5 }).map((at) => `node-${at}`)
}
