import { describe, expect, it } from 'vitest'
import { type MeasurementOutcome, recordMeasurement } from '@tranche/analysis'
import type { Analysis, AnalysisRun } from '@tranche/api-schema'
import { anAnalysis, aRun } from './builders.ts'

const START_MS = Date.parse('2026-01-01T00:00:00Z')
const outcomes: Readonly<Record<string, MeasurementOutcome>> = {
  s: { phase: 'Successful', value: '[0.01]' },
  f: { phase: 'Failed', value: '[0.5]', message: 'too high' },
  i: { phase: 'Inconclusive', value: '[NaN]', message: 'no number' },
  e: { phase: 'Error', message: 'no answer' },
}

describe('recordMeasurement', () => {
  const cases: Record<string, { rules: Partial<Analysis>; measured: string; want: Partial<AnalysisRun> }> = {
    'succeeds after one success by default': {
      rules: {},
      measured: 's',
      want: { phase: 'Successful', successful: 1, message: '1 of 1 measurement succeeded', finishedAt: '2026-01-01T00:00:00.100Z' },
    },
    'fails with the first failure when none is tolerated': {
      rules: { count: 5 },
      measured: 'sf',
      want: {
        phase: 'Failed',
        failed: 1,
        message: '1 of 2 measurements failed, at most 0 are tolerated; last one: too high, with the result [0.5]',
      },
    },
    'continues while the failures are within the limit': {
      rules: { count: 5, failureLimit: 2 },
      measured: 'ffs',
      want: { phase: 'Running', failed: 2, nextAt: '2026-01-01T00:01:30.000Z' },
    },
    'fails with one failure above the limit': {
      rules: { count: 5, failureLimit: 2 },
      measured: 'fsff',
      want: { phase: 'Failed', message: '3 of 4 measurements failed, at most 2 are tolerated; last one: too high, with the result [0.5]' },
    },
    'succeeds when its count is full, tolerated failures included': {
      rules: { count: 3, failureLimit: 1 },
      measured: 'sfs',
      want: { phase: 'Successful', message: '2 of 3 measurements succeeded' },
    },
    'is inconclusive above the limit': {
      rules: { count: 3, inconclusiveLimit: 1 },
      measured: 'ii',
      want: {
        phase: 'Inconclusive',
        message: '2 of 2 measurements were inconclusive, at most 1 are tolerated; last one: no number, with the result [NaN]',
      },
    },
    'retries soon after an error, with the reason': {
      rules: { count: 1 },
      measured: 'e',
      want: { phase: 'Running', errors: 1, consecutiveErrors: 1, message: 'no answer', nextAt: '2026-01-01T00:00:10.000Z' },
    },
    'retries after the interval when that is sooner': {
      rules: { interval: '2s' },
      measured: 'e',
      want: { phase: 'Running', nextAt: '2026-01-01T00:00:02.000Z' },
    },
    'counts no error as a measurement, and resets consecutive errors with a response': {
      rules: { count: 2 },
      measured: 'eeeesees',
      want: { phase: 'Successful', errors: 6, consecutiveErrors: 0, message: '2 of 2 measurements succeeded' },
    },
    'ends after more consecutive errors than tolerated': {
      rules: {},
      measured: 'eeeee',
      want: { phase: 'Error', message: '5 measurements in a row had errors, at most 4 are tolerated; last one: no answer' },
    },
    'never ends in the background without a count': {
      rules: { background: true },
      measured: 'ssssssss',
      want: { phase: 'Running', successful: 8 },
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { rules, measured, want }) => {
    expect(recorded(rules, measured)).toMatchObject(want)
  })

  it('lists the latest measurements only, newest last, and counts them all', () => {
    const run = recorded({ background: true, failureLimit: 99 }, 'fsssssssf')
    expect(run.measurements?.map(({ phase }) => phase)).toEqual(['Successful', 'Successful', 'Successful', 'Successful', 'Failed'])
    expect(run).toMatchObject({ successful: 7, failed: 2 })
  })

  it('drops the reason after a success', () => {
    expect(recorded({ background: true }, 'es')).not.toHaveProperty('message')
  })
})

/** Measures once each interval, as it falls due; each measurement takes 100 ms. */
function recorded(rules: Partial<Analysis>, measured: string): AnalysisRun {
  const analysis = anAnalysis('errors', rules)
  let run = aRun({ analysis: [analysis] }, 'errors', { nextAt: new Date(START_MS).toISOString() })
  for (const letter of measured) {
    const atMs = Date.parse(run.nextAt ?? '')
    run = recordMeasurement({ run, analysis }, outcomes[letter]!, { atMs, nowMs: atMs + 100 })
  }
  return run
}
