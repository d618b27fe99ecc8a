import type { AnalysisReport } from '@tranche/api-schema'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  answerText,
  chartText,
  intervalMs,
  limitText,
  lookOfPhase,
  type AnalysisMeasurement,
  numberText,
  roleText,
  measuredText,
} from '../src/pages/rollout/analyses/analysis-texts.ts'
import { chartDataOf } from '../src/pages/rollout/analyses/chart-data.ts'
import { collectMeasurements, CHARTED_MEASUREMENTS_MAX, runOf } from '../src/pages/rollout/analyses/collect-measurements.ts'
import { renewalMs } from '../src/pages/rollout/analyses/renewal.ts'
import { soakProgress } from '../src/pages/rollout/analyses/soak-progress.ts'

const START_MS = Date.parse('2026-11-26T00:00:00Z')
const timeOf = (second: number): string => new Date(START_MS + second * 1000).toISOString()

function measured(second: number, changes: Partial<AnalysisMeasurement> = {}): AnalysisMeasurement {
  return { at: timeOf(second), phase: 'Successful', value: `[${second}]`, sample: second, ...changes }
}

function analysis(changes: Partial<AnalysisReport> = {}): AnalysisReport {
  return { name: 'errors', phase: 'Running', background: true, required: true, startedAt: timeOf(0), measurements: [], ...changes }
}

describe('a measured number', () => {
  it.each([
    [0, '0'],
    [0.123456, '0.1235'],
    [250, '250'],
    [1_234_567, '1235000'],
    [0.00001234, '1.23e-5'],
    [-12_345_678_901, '-1.23e+10'],
    [5e11, '5e+11'],
  ])('%d is shown as %s', (value, text) => {
    expect(numberText(value)).toBe(text)
  })

  it.each([
    ['the number that the limit is for', { sample: 0.5, value: '[0.5, 0.1]' }, '0.5'],
    ['the answer, if it has no such number', { sample: undefined, value: '{"state":"passed"}' }, '{"state":"passed"}'],
    ['nothing after an error', { sample: undefined, value: undefined }, 'no value'],
  ])('is %s', (_case, changes, text) => {
    expect(measuredText(measured(1, changes))).toBe(text)
  })
})

describe('the answer of a measurement', () => {
  it.each([
    ['the value', { value: '[1]', message: 'successCondition does not hold' }, '[1]'],
    ['the error, if there is no value', { value: undefined, message: 'HTTP 503' }, 'HTTP 503'],
    ['absent if nothing is known', { value: undefined }, undefined],
  ])('is %s', (_case, changes, text) => {
    expect(answerText(measured(1, changes))).toBe(text)
  })
})

describe('the terms of an analysis', () => {
  it.each([
    ['<', 'must be below 0.5'],
    ['<=', 'must be at most 0.5'],
    ['>', 'must be above 0.5'],
    ['>=', 'must be at least 0.5'],
  ] as const)('say the limit %s in words', (op, text) => {
    expect(limitText({ op, value: 0.5 })).toBe(text)
  })

  it.each([
    [{ background: true, required: true }, 'during the whole release; can stop the release'],
    [{ background: false, step: 2, required: true }, 'after step 2; can stop the release'],
    [{ background: true, required: false }, 'during the whole release; dry run: cannot stop the release'],
  ])('say when it runs, and what it can do: %o', (changes, text) => {
    expect(roleText(analysis(changes))).toBe(text)
  })

  it.each([
    ['from the last measurement to the next', timeOf(40), [measured(0), measured(10)], 30_000],
    ['the usual distance, once nothing is planned', undefined, [measured(0), measured(5), measured(10), measured(40)], 5_000],
    ['the usual distance, if the plan is in the past', timeOf(1), [measured(0), measured(5)], 5_000],
    ['unknown after one measurement', undefined, [measured(0)], undefined],
    ['unknown before the first', timeOf(40), [], undefined],
  ])('have as interval the time %s', (_case, nextAt, measurements, ms) => {
    expect(intervalMs(nextAt, measurements)).toBe(ms)
  })

  it('show a phase of a newer server by its name', () => {
    expect(lookOfPhase('Skipped').word).toBe('Skipped')
    expect(lookOfPhase('Failed').glyph).toBe('✕')
  })
})

describe('a chart', () => {
  it('contains the limit, zero and every sample', () => {
    const numbers = fc.double({ noNaN: true, min: -1e6, max: 1e6 })
    fc.assert(
      fc.property(fc.array(numbers, { minLength: 1 }), numbers, (samples, value) => {
        const { range } = chartDataOf(
          samples.map((sample, at) => measured(at, { sample })),
          { op: '<', value },
        )!
        return [...samples, value, 0].every((number) => range[0] <= number && number <= range[1]) && range[0] < range[1]
      }),
    )
  })

  it('shows at least a minute, and has a gap where no number was measured', () => {
    const data = chartDataOf([measured(10), measured(20, { sample: undefined, phase: 'Error' }), measured(30)], undefined)
    expect(data).toMatchObject({ samples: [10, null, 30], phases: ['Successful', 'Error', 'Successful'] })
    expect(data!.span).toEqual([START_MS / 1000 - 30, START_MS / 1000 + 30])
  })

  it('is left out without a number', () => {
    expect(chartDataOf([measured(1, { sample: undefined })], { op: '<', value: 1 })).toBeUndefined()
  })

  it('has a text that says the same in one sentence', () => {
    const text = chartText(analysis({ limit: { op: '<', value: 5 } }), [measured(1), measured(7, { phase: 'Failed' }), measured(3)])
    expect(text).toBe('errors over time: from 1 to 7, now 3; must be below 5; 1 of 3 failed. The table below has every value.')
    expect(chartText(analysis(), [])).toBe('errors: no number was measured')
  })
})

describe('collected measurements', () => {
  const run = runOf(analysis())

  it('keep what the status has dropped', () => {
    const first = collectMeasurements(new Map(), [analysis({ measurements: [measured(1), measured(2)] })])
    const second = collectMeasurements(first, [analysis({ measurements: [measured(2), measured(3)] })])
    expect(second.get(run)?.map(({ sample }) => sample)).toEqual([1, 2, 3])
  })

  it('are the same object while nothing changes', () => {
    const first = collectMeasurements(new Map(), [analysis({ measurements: [measured(1)] })])
    expect(collectMeasurements(first, [analysis({ measurements: [measured(1)] })])).toBe(first)
    expect(collectMeasurements(first, [analysis({ measurements: [measured(1, { phase: 'Failed' })] })])).not.toBe(first)
  })

  it('begin again when the analysis restarts, and forget a run that is over', () => {
    const first = collectMeasurements(new Map(), [analysis({ measurements: [measured(1)] })])
    const restarted = analysis({ startedAt: timeOf(9), measurements: [measured(10)] })
    const second = collectMeasurements(first, [restarted])
    expect([...second.keys()]).toEqual([runOf(restarted)])
    expect(second.get(runOf(restarted))).toHaveLength(1)
  })

  it('have an upper limit', () => {
    const measurements = Array.from({ length: CHARTED_MEASUREMENTS_MAX + 5 }, (_, at) => measured(at))
    const kept = collectMeasurements(new Map(), [analysis({ measurements })]).get(run)
    expect(kept).toHaveLength(CHARTED_MEASUREMENTS_MAX)
    expect(kept?.at(-1)?.sample).toBe(CHARTED_MEASUREMENTS_MAX + 4)
  })
})

describe('the soak', () => {
  const remaining = { of: 'soak' as const, until: timeOf(60) }
  const waitingFor = { reason: 'Soak', message: '', nodes: [], since: timeOf(0) }

  it('counts down from its start', () => {
    expect(soakProgress({ remaining, waitingFor }, START_MS + 15_000)).toEqual({
      title: 'Soak of this step',
      until: timeOf(60),
      leftMs: 45_000,
      passed: 0.25,
    })
  })

  it('is due after its end, and never more than complete', () => {
    expect(soakProgress({ remaining, waitingFor }, START_MS + 61_000)).toMatchObject({ leftMs: -1_000, passed: 1 })
  })

  it.each([
    [
      'the final soak, whose start the report does not have',
      { remaining: { ...remaining, of: 'settling' as const }, waitingFor },
      'Final soak of the release',
    ],
    ['a soak whose start is unknown', { remaining }, 'Soak of this step'],
  ])('has no bar: %s', (_case, report, title) => {
    expect(soakProgress(report, START_MS)).toMatchObject({ title, passed: undefined })
  })

  it.each([
    ['nothing ends by itself', {}],
    ['a pause ends', { remaining: { ...remaining, of: 'pause' as const } }],
  ])('does not run while %s', (_case, report) => {
    expect(soakProgress(report, START_MS)).toBeUndefined()
  })
})

describe('the next read for measurements', () => {
  const running = (second?: number): Pick<AnalysisReport, 'phase' | 'nextAt'> => ({
    phase: 'Running',
    ...(second !== undefined && { nextAt: timeOf(second) }),
  })

  it.each([
    ['is a second after the next measurement', [running(30), running(8)], 9_000],
    ['is at most every three seconds', [running(1)], 3_000],
    ['is every three seconds while one is late', [running(-60)], 3_000],
    ['is at least every 15 seconds', [running(600)], 15_000],
    ['is every 15 seconds while the time is unknown', [running()], 15_000],
    ['is not planned once all have ended', [{ phase: 'Failed' as const, nextAt: timeOf(5) }, { phase: 'Pending' as const }], false],
    ['is not planned without analyses', undefined, false],
  ])('%s', (_case, analyses, ms) => {
    expect(renewalMs(analyses, START_MS)).toBe(ms)
  })
})
