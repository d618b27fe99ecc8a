import type { FlightRecord, Permit } from '@tranche/api-schema'
import { recordTouches, type TouchAnswer } from '@tranche/fence'
import { aRecord } from '@tranche/testing'
import { describe, expect, it } from 'vitest'

const permits = ['a', 'b'].map((node): Permit => ({ node, podUid: `pod-${node}`, podResourceVersion: '10' }))
const [a, b] = permits as [Permit, Permit]
const standing: TouchAnswer = { kind: 'standing', resourceVersion: '70' }
const executed: TouchAnswer = { kind: 'executed' }
const unclear: TouchAnswer = { kind: 'unclear', why: 'the request timed out' }

describe('recordTouches', () => {
  const cases: Record<string, { state?: FlightRecord['state']; answers: readonly [Permit, TouchAnswer][]; want: Partial<FlightRecord> }> = {
    'stops when every pod is standing and no permit remains': {
      answers: [
        [a, standing],
        [b, standing],
      ],
      want: { state: 'stopped', permits: [] },
    },
    'stops when every pod was deleted, and keeps their permits until they settle': {
      answers: [
        [a, executed],
        [b, executed],
      ],
      want: { state: 'stopped', permits: [a, b] },
    },
    'keeps the permits of deleted pods only': {
      answers: [
        [a, executed],
        [b, standing],
      ],
      want: { state: 'stopped', permits: [a] },
    },
    'does not stop while one answer is unclear': {
      answers: [
        [a, standing],
        [b, unclear],
      ],
      want: { state: 'voiding', permits: [b] },
    },
    'does not stop while one pod was not touched': { answers: [[a, standing]], want: { state: 'voiding', permits: [b] } },
    'rests on the versions of the touches (F2)': {
      answers: [
        [a, standing],
        [b, executed],
      ],
      want: { watermark: '70' },
    },
    'withdraws the standing permits from an open record, and keeps it open': {
      state: 'open',
      answers: [[b, standing]],
      want: { state: 'open', permits: [a] },
    },
    'withdraws no executed permit': { state: 'open', answers: [[b, executed]], want: { state: 'open', permits } },
  }

  it.each(Object.entries(cases))('%s', (_name, { state = 'voiding', answers, want }) => {
    const record = aRecord({ state, permits, seq: 7, watermark: '50' })
    const touched = answers.map(([permit, answer]) => ({ permit, answer }))
    expect(recordTouches(record, touched)).toMatchObject({ seq: 8, epoch: record.epoch, ...want })
  })

  it('stops a `voiding` record without permits at once', () => {
    expect(recordTouches(aRecord({ state: 'voiding' }), [])).toMatchObject({ state: 'stopped', permits: [] })
  })
})
