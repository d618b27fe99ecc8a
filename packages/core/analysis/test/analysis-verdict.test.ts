import { describe, expect, it } from 'vitest'
import { analysisDigest, analysisVerdict, type AnalysisVerdict } from '@tranche/analysis'
import type { AnalysisRun, TrancheSpec } from '@tranche/api-schema'
import { anAnalysis, aRun } from './builders.ts'

const tranche: TrancheSpec = { release: 'r1', analysis: [anAnalysis('errors'), anAnalysis('latency')] }
const good: AnalysisVerdict = { kind: 'good' }

describe('analysisVerdict', () => {
  const cases: Record<string, { tranche?: TrancheSpec; runs: readonly AnalysisRun[]; want: AnalysisVerdict }> = {
    'is good while nothing has been measured': { runs: [], want: good },
    'is good while measurements continue, and when they have succeeded': {
      runs: [aRun(tranche, 'errors', { phase: 'Running' }), aRun(tranche, 'latency', { phase: 'Successful' })],
      want: good,
    },
    'is failed when one analysis has failed, with its name, step and message': {
      runs: [aRun(tranche, 'errors', { phase: 'Failed', step: 2, message: '2 of 3 measurements failed' })],
      want: { kind: 'failed', names: ['errors'], message: 'analysis errors after step 2 failed: 2 of 3 measurements failed' },
    },
    'names only the failed ones when others are inconclusive': {
      runs: [aRun(tranche, 'errors', { phase: 'Inconclusive' }), aRun(tranche, 'latency', { phase: 'Failed' })],
      want: { kind: 'failed', names: ['latency'], message: 'analysis latency in the background failed' },
    },
    'is inconclusive when one could not be measured': {
      runs: [aRun(tranche, 'errors', { phase: 'Error', message: 'no answer' })],
      want: { kind: 'inconclusive', names: ['errors'], message: 'analysis errors in the background could not be measured: no answer' },
    },
    'ignores dry runs': { runs: [aRun(tranche, 'errors', { phase: 'Failed', dryRun: true })], want: good },
    'ignores runs of another release': { runs: [aRun(tranche, 'errors', { phase: 'Failed', release: 'r0' })], want: good },
    'is lifted by another retry': {
      tranche: { ...tranche, retry: 'again' },
      runs: [aRun(tranche, 'errors', { phase: 'Failed' })],
      want: good,
    },
    'counts a run that started with the last retry': {
      tranche: { ...tranche, retry: 'again' },
      runs: [aRun(tranche, 'errors', { phase: 'Inconclusive', retry: 'again' })],
      want: { kind: 'inconclusive', names: ['errors'], message: 'analysis errors in the background is inconclusive' },
    },
    'is lifted when the rules of the analysis change': {
      tranche: { ...tranche, analysis: [{ ...anAnalysis('errors'), failureLimit: 3 }] },
      runs: [aRun(tranche, 'errors', { phase: 'Failed' })],
      want: good,
    },
    'is lifted when the release no longer has analyses': {
      tranche: { release: 'r1' },
      runs: [aRun(tranche, 'errors', { phase: 'Failed' })],
      want: good,
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { tranche: spec = tranche, runs, want }) => {
    expect(analysisVerdict(spec, runs)).toEqual(want)
  })
})

describe('analysisDigest', () => {
  it('does not depend on the order of fields', () => {
    const { name, ...rest } = anAnalysis('errors')
    expect(analysisDigest({ ...rest, name })).toBe(analysisDigest({ name, ...rest }))
  })
})
