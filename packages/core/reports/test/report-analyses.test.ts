import type { Analysis, AnalysisReport, AnalysisRun, Rollout } from '@tranche/api-schema'
import { analysisDigest } from '@tranche/analysis'
import { reportRollout } from '@tranche/reports'
import { describe, expect, it } from 'vitest'
import { aReading } from './build-facts.ts'

const at = '2023-11-14T22:05:00Z'
const prometheus = { address: 'http://prometheus.example', query: 'errors' }
const http = { url: 'http://check.example' }

describe('the limit of an analysis', () => {
  it.each<[string, Partial<Analysis>, AnalysisReport['limit']]>([
    ['is the constant in the successCondition', { prometheus, successCondition: 'result[0] < 0.5' }, { op: '<', value: 0.5 }],
    ['is the same if the constant comes first', { prometheus, successCondition: '0.5 > result[0]' }, { op: '<', value: 0.5 }],
    ['may be negative', { prometheus, successCondition: 'result[0] >= -1.5' }, { op: '>=', value: -1.5 }],
    ['is the opposite of the failureCondition', { prometheus, failureCondition: 'result[0] > 0.5' }, { op: '<=', value: 0.5 }],
    [
      'is that of the successCondition if both have one',
      { prometheus, successCondition: 'result[0] < 0.1', failureCondition: 'result[0] > 0.5' },
      { op: '<', value: 0.1 },
    ],
    [
      'is found beside conditions on other things',
      { prometheus, successCondition: 'size(result) > 0 && result[0] <= 2.0' },
      { op: '<=', value: 2 },
    ],
    ['is found for every item', { prometheus, successCondition: 'result.all(x, x < 0.5)' }, { op: '<', value: 0.5 }],
    ['is found for a member of an HTTP answer', { http, successCondition: 'result.errors.rate < 5' }, { op: '<', value: 5 }],
    [
      'is found in an argument',
      { prometheus, successCondition: 'result[0] < double(args.most)', args: [{ name: 'most', value: '0.25' }] },
      { op: '<', value: 0.25 },
    ],
    ['is absent for two different limits', { prometheus, successCondition: 'result[0] > 1.0 && result[0] < 5.0' }, undefined],
    ['is absent for a comparison with another number', { prometheus, successCondition: 'result[0] < result[1]' }, undefined],
    ['is absent without a comparison', { http, successCondition: 'result.state == "passed"' }, undefined],
    ['is absent for a condition that does not compile', { prometheus, successCondition: 'result[0] <' }, undefined],
    ['is absent for an argument that is no number', { prometheus, successCondition: 'result[0] < double(args.namespace)' }, undefined],
    [
      'is absent for a condition that is too long to read',
      { prometheus, successCondition: `${'true && '.repeat(80)}result[0] < 1.0` },
      undefined,
    ],
  ])('%s', (_name, fields, limit) => {
    expect(onlyReport({ name: 'errors', ...fields }).limit).toEqual(limit)
  })
})

describe('the sample of a measurement', () => {
  it.each<[string, Partial<Analysis>, string, { readonly sample?: number; readonly size?: number }]>([
    ['is the number of the limit', { prometheus, successCondition: 'result[1] < 0.5' }, '[0.3, 0.7]', { sample: 0.7, size: 2 }],
    ['is the first number without a limit', { prometheus, successCondition: 'size(result) == 2' }, '[0.3, 0.7]', { sample: 0.3, size: 2 }],
    [
      'is the largest for an upper limit of every item',
      { prometheus, successCondition: 'result.all(x, x < 0.5)' },
      '[0.3, 0.7, 0.1]',
      { sample: 0.7, size: 3 },
    ],
    [
      'is the smallest for a lower limit of every item',
      { prometheus, successCondition: 'result.all(x, x > 0.5)' },
      '[0.9, 0.7]',
      { sample: 0.7, size: 2 },
    ],
    ['is a member of an HTTP answer', { http, successCondition: 'result.rate < 5' }, '{"rate":3,"ok":true}', { sample: 3 }],
    [
      'is found behind an HTTP status',
      { http, successCondition: 'status == 200 && result.rate < 5' },
      'HTTP 200 {"rate":3}',
      { sample: 3 },
    ],
    ['is an HTTP answer that is a number', { http, successCondition: 'result < 5' }, '4', { sample: 4 }],
    ['is absent for no traffic', { prometheus, successCondition: 'result[0] < 0.5' }, '[NaN]', { size: 1 }],
    ['is absent for an empty answer', { prometheus, successCondition: 'result[0] < 0.5' }, '[]', { size: 0 }],
    ['is absent for a truncated value', { prometheus, successCondition: 'result[0] < 0.5' }, '[0.3, 0.7, …', {}],
    ['is absent for a text', { http, successCondition: 'result.state == "passed"' }, '{"state":"passed"}', {}],
  ])('%s', (_name, fields, value, expected) => {
    const analysis = { name: 'errors', ...fields }
    const run = aRun(analysis, { measurements: [{ at, phase: 'Successful', value }] })
    expect(onlyReport(analysis, run).measurements).toEqual([{ at, phase: 'Successful', value, ...expected }])
  })
})

describe('the analyses of a release', () => {
  const step: Analysis = { name: 'errors', prometheus, successCondition: 'result[0] < 0.5' }
  const background: Analysis = { name: 'memory', prometheus, failureCondition: 'result[0] > 9.0', background: true, dryRun: true }

  it('are reported with their run, and name their conditions', () => {
    const run = aRun(step, { step: 1, phase: 'Failed', message: '1 of 1 measurements failed', finishedAt: at })
    expect(onlyReport(step, run)).toEqual({
      name: 'errors',
      phase: 'Failed',
      message: '1 of 1 measurements failed',
      step: 1,
      background: false,
      required: true,
      successCondition: 'result[0] < 0.5',
      limit: { op: '<', value: 0.5 },
      startedAt: at,
      finishedAt: at,
      measurements: [],
    })
  })

  it('are Pending before their run, at the next step that has them', () => {
    const later: Analysis = { ...step, name: 'later', steps: [2] }
    const before: Analysis = { ...step, name: 'before', steps: [1] }
    const report = reportsOf([step, later, before, background], [], inStep(2))
    expect(report.map(({ name, phase, step: of }) => [name, phase, of])).toEqual([
      ['errors', 'Pending', 2],
      ['later', 'Pending', 2],
      ['memory', 'Pending', undefined],
    ])
  })

  it('are not required in a dry run', () => {
    expect(onlyReport(background)).toMatchObject({ background: true, required: false })
  })

  it.each<[string, Partial<AnalysisRun>]>([
    ['of another release', { release: 'r0' }],
    ['before a retry', { retry: 'earlier' }],
    ['of an analysis that has changed', { spec: 'other' }],
    ['of an analysis that the policy does not have any more', { name: 'removed' }],
  ])('do not contain a run %s', (_name, fields) => {
    expect(reportsOf([step], [aRun(step, { step: 1, message: 'stale', ...fields })]).map(({ phase }) => phase)).toEqual(['Pending'])
  })

  it('are absent without a release, and in a release without analyses', () => {
    expect(reportRollout(aReading())).not.toHaveProperty('analyses')
    expect(reportRollout({ ...aReading({ tranche: { analysis: [step] } }), release: undefined })).not.toHaveProperty('analyses')
  })
})

function onlyReport(analysis: Analysis, ...runs: readonly AnalysisRun[]): AnalysisReport {
  const [report, ...more] = reportsOf([analysis], runs)
  if (report === undefined || more.length > 0) throw new Error(`there is not one analysis but ${more.length + 1}`)
  return report
}

function reportsOf(
  analysis: readonly Analysis[],
  runs: readonly AnalysisRun[],
  rolloutStatus?: Rollout['status'],
): readonly AnalysisReport[] {
  const facts = aReading({ tranche: { analysis }, status: { analysis: runs }, ...(rolloutStatus && { rolloutStatus }) })
  return reportRollout(facts).analyses ?? []
}

function aRun(analysis: Analysis, fields: Partial<AnalysisRun> = {}): AnalysisRun {
  const step = analysis.background === true ? {} : { step: 1 }
  return { name: analysis.name, release: 'r1', spec: analysisDigest(analysis), phase: 'Running', startedAt: at, ...step, ...fields }
}

function inStep(currentStepIndex: number): NonNullable<Rollout['status']> {
  const status = aReading().rollout.status!
  return { ...status, currentStepIndex, canaryStatus: { ...status.canaryStatus!, currentStepIndex } }
}
