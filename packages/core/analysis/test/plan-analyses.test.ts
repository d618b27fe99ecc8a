import { describe, expect, it } from 'vitest'
import { planAnalyses, stepAnalyses } from '@tranche/analysis'
import type { AnalysisRun, BatchRelease, BatchReleaseStatus, TrancheSpec } from '@tranche/api-schema'
import { anAnalysis, aRelease, aRun } from './builders.ts'

const NOW_MS = Date.parse('2026-01-01T01:00:00Z')
const background = anAnalysis('errors', { background: true, interval: '30s', initialDelay: '1m' })
const afterSteps = anAnalysis('latency')

describe('planAnalyses', () => {
  describe('starts', () => {
    it('an analysis in the background with the first batch, to be measured after its delay', () => {
      const plan = planAnalyses(viewOf({ analysis: [background] }))
      expect(plan).toMatchObject({
        runs: [{ name: 'errors', release: 'r1', phase: 'Running', startedAt: at(0), nextAt: at(60) }],
        due: [],
        recheckAfterMs: 60_000,
      })
      expect(plan.runs[0]).not.toHaveProperty('step')
    })

    it('an analysis of a step when its batch is ready, to be measured at once', () => {
      const plan = planAnalyses(viewOf({ analysis: [afterSteps] }, { status: ready(0) }))
      expect(plan).toMatchObject({ runs: [{ name: 'latency', step: 2, nextAt: at(0) }], due: [{ step: 2 }] })
    })

    it('no analysis of a step while its batch is not ready', () => {
      expect(planAnalyses(viewOf({ analysis: [afterSteps] }))).toEqual({ runs: [], due: [], recheckAfterMs: null })
    })

    it('no analysis of a step before it has soaked, and says when that is', () => {
      const view = viewOf({ analysis: [afterSteps], stepSoakSeconds: 120 }, { status: ready(-50) })
      expect(planAnalyses(view)).toEqual({ runs: [], due: [], recheckAfterMs: 70_000 })
      expect(planAnalyses({ ...view, nowMs: NOW_MS + 70_000 }).runs).toHaveLength(1)
    })

    it('no analysis of a step that it does not name', () => {
      expect(planAnalyses(viewOf({ analysis: [{ ...afterSteps, steps: [1, 3] }] }, { status: ready(0) })).runs).toEqual([])
    })

    it('no analysis of an earlier batch', () => {
      const view = viewOf({ analysis: [afterSteps] }, { status: ready(0), batchPartition: 2 })
      expect(planAnalyses(view).runs).toEqual([])
    })

    it('no analysis of a step in the final batch', () => {
      const view = viewOf({ analysis: [afterSteps, background] }, { status: { ...ready(0), phase: 'Finalizing' }, batchPartition: null })
      expect(planAnalyses(view).runs).toMatchObject([{ name: 'errors' }])
    })

    it.each<[string, Partial<BatchReleaseStatus>]>([
      ['its first batch', { phase: 'Preparing' }],
      ['the status speaks of it', { observedRelease: 'r0' }],
    ])('nothing before %s', (_name, status) => {
      expect(planAnalyses(viewOf({ analysis: [background] }, { status })).runs).toEqual([])
    })
  })

  describe('restarts', () => {
    const tranche = { analysis: [background] }
    const old = aRun({ ...tranche, release: 'r1' }, 'errors', { phase: 'Failed', failed: 3 })
    it.each<[string, Partial<TrancheSpec>]>([
      ['with another retry', { retry: 'again' }],
      ['with another release', { release: 'r2' }],
      ['when its rules change', { analysis: [{ ...background, failureLimit: 7 }] }],
    ])('%s', (_name, changes) => {
      const release = changes.release ?? 'r1'
      const plan = planAnalyses(viewOf({ ...tranche, ...changes }, { status: { analysis: [old], observedRelease: release } }))
      expect(plan.runs).toMatchObject([{ name: 'errors', phase: 'Running', startedAt: at(0) }])
      expect(plan.runs[0]).not.toHaveProperty('failed')
    })
  })

  describe('measures', () => {
    const tranche = { release: 'r1', analysis: [background, afterSteps] }
    const running = aRun(tranche, 'errors', { nextAt: at(-1) })
    it('due runs, and leaves them unchanged', () => {
      const view = viewOf(tranche, { status: { analysis: [running] } })
      const plan = planAnalyses(view)
      expect(plan.runs).toBe(view.runs)
      expect(plan.due).toMatchObject([{ run: { name: 'errors' }, step: 2 }])
    })

    it('no ended run', () => {
      const ended = aRun(tranche, 'errors', { phase: 'Failed' })
      expect(planAnalyses(viewOf(tranche, { status: { analysis: [ended] } }))).toMatchObject({ due: [], recheckAfterMs: null })
    })

    it('no run of a step while its batch is no longer ready, and keeps the run', () => {
      const run = aRun(tranche, 'latency', { step: 2, nextAt: at(-1) })
      const view = viewOf(tranche, { status: { analysis: [aRun(tranche, 'errors', { nextAt: at(9) }), run] } })
      expect(planAnalyses(view)).toMatchObject({ runs: view.runs, due: [], recheckAfterMs: 9_000 })
    })

    it('a run whose due time is too far ahead because the clock was set back', () => {
      const view = viewOf(tranche, { status: { analysis: [aRun(tranche, 'errors', { nextAt: at(3600) })] } })
      expect(planAnalyses(view).due).toHaveLength(1)
    })

    it('on, in a pause', () => {
      const view = viewOf({ ...tranche, paused: true }, { status: { analysis: [running] } })
      expect(planAnalyses(view).due).toHaveLength(1)
    })
  })

  describe('in the next step', () => {
    const tranche = { release: 'r1', analysis: [afterSteps] }
    const cases: Record<string, { run: Partial<AnalysisRun>; stays: boolean }> = {
      'drops successful runs': { run: { phase: 'Successful' }, stays: false },
      'drops runs that a jump left behind': { run: { phase: 'Running' }, stays: false },
      'keeps failed runs': { run: { phase: 'Failed' }, stays: true },
      'keeps inconclusive runs': { run: { phase: 'Inconclusive' }, stays: true },
      'continues a dry run': { run: { phase: 'Running', dryRun: true }, stays: true },
      'drops a failed dry run': { run: { phase: 'Failed', dryRun: true }, stays: false },
    }
    it.each(Object.entries(cases))('%s', (_name, { run, stays }) => {
      const before = aRun(tranche, 'latency', { step: 1, nextAt: at(5), ...run })
      expect(planAnalyses(viewOf(tranche, { status: { analysis: [before] } })).runs).toEqual(stays ? [before] : [])
    })
  })

  describe('at the end', () => {
    const tranche = { release: 'r1', analysis: [background, anAnalysis('other', { background: true })] }
    it.each<[string, Partial<BatchReleaseStatus>]>([
      ['of the release', { phase: 'Completed' }],
      ['except for nodes left behind', { waiting: { reason: 'NodesLeft', message: '', since: at(0), nodes: [] } }],
    ])('%s runs that have not failed are successful', (_name, status) => {
      const analysis = [aRun(tranche, 'errors', { nextAt: at(-1), failed: 1 }), aRun(tranche, 'other', { phase: 'Failed' })]
      const plan = planAnalyses(viewOf(tranche, { status: { ...status, analysis } }))
      expect(plan.runs).toMatchObject([{ phase: 'Successful', finishedAt: at(0) }, { phase: 'Failed' }])
      expect(plan.due).toEqual([])
    })
  })
})

describe('stepAnalyses', () => {
  const tranche = { release: 'r1', analysis: [afterSteps, background, anAnalysis('trial', { dryRun: true })] }
  const cases: Record<string, { runs: readonly AnalysisRun[]; want: ReturnType<typeof stepAnalyses> }> = {
    'waits for analyses that have not started': { runs: [], want: { kind: 'waiting', message: 'analysis latency has not started' } },
    'waits for running analyses, and says why they take long': {
      runs: [aRun(tranche, 'latency', { step: 2, message: 'no answer' })],
      want: { kind: 'waiting', message: 'analysis latency after step 2 is being measured: no answer' },
    },
    'is done when all but dry runs have succeeded': {
      runs: [aRun(tranche, 'latency', { step: 2, phase: 'Successful' })],
      want: { kind: 'done' },
    },
    'ignores runs of another step': {
      runs: [aRun(tranche, 'latency', { step: 1, phase: 'Successful' })],
      want: { kind: 'waiting', message: 'analysis latency has not started' },
    },
    'ignores runs of other rules': {
      runs: [{ ...aRun(tranche, 'latency', { step: 2, phase: 'Successful' }), spec: 'other' }],
      want: { kind: 'waiting', message: 'analysis latency has not started' },
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { runs, want }) => {
    expect(stepAnalyses(aRelease(tranche, { analysis: runs }), 2)).toEqual(want)
  })
})

interface Circumstances {
  readonly status?: Partial<BatchReleaseStatus>
  readonly batchPartition?: number | null
}

/** The second of three batches is under way, an hour after it began. */
function viewOf(tranche: TrancheSpec, { status = {}, batchPartition = 1 }: Circumstances = {}) {
  const release: BatchRelease = aRelease(tranche, status, batchPartition)
  return { release, runs: release.status?.analysis ?? [], nowMs: NOW_MS }
}

/** The second batch became ready this many seconds after now. */
function ready(sinceSeconds: number): Partial<BatchReleaseStatus> {
  return { canaryStatus: { currentBatch: 1, batchState: 'Ready', batchReadyTime: at(sinceSeconds) } }
}

function at(seconds: number): string {
  return new Date(NOW_MS + seconds * 1000).toISOString()
}
