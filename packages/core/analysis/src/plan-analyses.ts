import type { Analysis, AnalysisRun, BatchRelease } from '@tranche/api-schema'
import { parseTime, timeText } from '@tranche/kube-types'
import { isStopping } from './analysis-verdict.ts'
import { pacingOf } from './pacing.ts'
import { analysisDigest, analysisOf, isOfStep } from './run-identity.ts'

/** Input for a plan of the analyses of a release. */
export interface AnalysisView {
  readonly release: BatchRelease
  /** Runs of the release, including measurements that are not written yet. */
  readonly runs: readonly AnalysisRun[]
  /** Epoch milliseconds. */
  readonly nowMs: number
}

/** A measurement that is due. */
export interface DueMeasurement {
  readonly run: AnalysisRun
  readonly analysis: Analysis
  /** Number of the present step, from 1. */
  readonly step: number
}

/** Plan for the analyses of a release. */
export interface AnalysisPlan {
  /** New runs; the same array as in the view when nothing changes. */
  readonly runs: readonly AnalysisRun[]
  /** Due measurements, in the order of the runs. */
  readonly due: readonly DueMeasurement[]
  /** Milliseconds after which the clock alone changes the plan; null: never. */
  readonly recheckAfterMs: number | null
}

/** Maximum number of runs in a status; successful runs are dropped first. */
const RUNS_MAX = 60

/**
 * Decides which analyses of a release run, and which measurements are due. Pure: all state is in the status, so that a new leader
 * resumes where the last one stopped (G7).
 *
 * A background analysis runs from the first batch until the release ends, including pauses. A step analysis runs when the batch is
 * ready and has soaked, and waits while it is not. Another release, another retry or other rules restart it.
 */
export function planAnalyses(view: AnalysisView): AnalysisPlan {
  const stage = stageOf(view)
  if (stage.kind === 'over') return { runs: finished(view), due: [], recheckAfterMs: null }
  if (stage.kind === 'before') return { runs: kept(view, []), due: [], recheckAfterMs: null }
  const wanted = wantedOf(view.release, stage)
  const runs = kept(view, wanted)
  const measured = runs.flatMap((run) => measurable(view.release, stage, run))
  const waits = measured.map(({ run, analysis }) => waitMs(run, analysis, view.nowMs))
  const due = measured.filter((_one, at) => waits[at]! <= 0)
  const soakMs = hasStepAnalyses(view.release, stage.step) ? stage.soakLeftMs : 0
  const later = [...waits, soakMs].filter((ms) => ms > 0 && Number.isFinite(ms))
  return { runs, due, recheckAfterMs: later.length === 0 ? null : Math.min(...later) }
}

/** Stage of a release for its analyses. */
type Stage = { readonly kind: 'before' } | { readonly kind: 'over' } | Running

interface Running {
  readonly kind: 'running'
  /** Number of the step, from 1; the last step during the final batch. */
  readonly step: number
  /** Milliseconds that the batch must still stay ready before its analyses start; Infinity while it is not ready. */
  readonly soakLeftMs: number
}

function stageOf({ release, nowMs }: AnalysisView): Stage {
  const { spec, status, metadata } = release
  const { releasePlan, tranche } = spec
  if ((status?.observedRelease ?? '') !== (tranche?.release ?? '')) return { kind: 'before' }
  if (metadata.deletionTimestamp !== undefined || status?.phase === 'Completed' || status?.waiting?.reason === 'NodesLeft')
    return { kind: 'over' }
  const canary = status?.canaryStatus
  if (canary === undefined || (status?.phase !== 'Progressing' && status?.phase !== 'Finalizing')) return { kind: 'before' }
  const readyMs = parseTime(canary.batchReadyTime)
  const isReady = canary.batchState === 'Ready' && canary.currentBatch === releasePlan.batchPartition
  const soakMs = (tranche?.stepSoakSeconds ?? 0) * 1000
  return {
    kind: 'running',
    step: Math.min(canary.currentBatch + 1, Math.max(1, releasePlan.batches?.length ?? 1)),
    soakLeftMs: isReady && readyMs !== null ? Math.max(0, readyMs + soakMs - nowMs) : Number.POSITIVE_INFINITY,
  }
}

interface Wanted {
  readonly analysis: Analysis
  /** Number of the step; absent for a background analysis. */
  readonly step?: number
}

function wantedOf({ spec }: BatchRelease, { step, soakLeftMs }: Running): readonly Wanted[] {
  return (spec.tranche?.analysis ?? []).flatMap((analysis): readonly Wanted[] => {
    if (analysis.background === true) return [{ analysis }]
    return soakLeftMs === 0 && isOfStep(analysis, step) ? [{ analysis, step }] : []
  })
}

function hasStepAnalyses({ spec }: BatchRelease, step: number): boolean {
  return spec.tranche?.analysis?.some((analysis) => isOfStep(analysis, step)) ?? false
}

/** The runs that still count and those that start now; the same array when nothing changes. */
function kept(view: AnalysisView, wanted: readonly Wanted[]): readonly AnalysisRun[] {
  const { release, runs } = view
  const tranche = release.spec.tranche
  const step = (release.status?.canaryStatus?.currentBatch ?? 0) + 1
  const staying = runs.filter((run) => analysisOf(tranche, run) !== undefined && (run.step === undefined || staysAfter(run, step)))
  const begun = wanted.filter(({ analysis, step: at }) => !staying.some((run) => run.name === analysis.name && run.step === at))
  if (begun.length === 0 && staying.length === runs.length && runs.length <= RUNS_MAX) return runs
  return bounded([...staying, ...begun.map((one) => begin(view, one))])
}

/** Whether a run of another step stays: only if it stops the release or is a dry run. */
function staysAfter(run: AnalysisRun, step: number): boolean {
  return run.step === step || isStopping(run) || (run.dryRun === true && run.phase === 'Running')
}

function begin({ release, nowMs }: AnalysisView, { analysis, step }: Wanted): AnalysisRun {
  const { release: id = '', retry } = release.spec.tranche ?? {}
  return {
    name: analysis.name,
    release: id,
    ...(step !== undefined && { step }),
    spec: analysisDigest(analysis),
    ...(retry !== undefined && { retry }),
    phase: 'Running',
    startedAt: stamp(nowMs),
    nextAt: stamp(nowMs + pacingOf(analysis).initialDelayMs),
    ...(analysis.dryRun === true && { dryRun: true }),
  }
}

function bounded(runs: readonly AnalysisRun[]): readonly AnalysisRun[] {
  const surplus = runs.length - RUNS_MAX
  if (surplus <= 0) return runs
  const dropped = new Set(runs.filter(({ phase, dryRun }) => phase === 'Successful' || dryRun === true).slice(0, surplus))
  return runs.filter((run) => !dropped.has(run))
}

/** Runs after the end of the release: those that have not failed are successful. */
function finished({ runs, nowMs }: AnalysisView): readonly AnalysisRun[] {
  if (runs.every(({ phase }) => phase !== 'Running')) return runs
  return runs.map((run): AnalysisRun => {
    if (run.phase !== 'Running') return run
    const { nextAt: _due, ...rest } = run
    return { ...rest, phase: 'Successful', message: 'the release ended before all measurements were made', finishedAt: stamp(nowMs) }
  })
}

/** Due measurements of a running analysis at the present stage of the release. */
function measurable({ spec }: BatchRelease, { step, soakLeftMs }: Running, run: AnalysisRun): readonly DueMeasurement[] {
  const analysis = analysisOf(spec.tranche, run)
  if (analysis === undefined || run.phase !== 'Running') return []
  const isWaiting = run.step === step && soakLeftMs > 0
  return isWaiting ? [] : [{ run, analysis, step: run.step ?? step }]
}

/** Milliseconds until the next measurement. A time beyond the longest wait comes from a clock that was set back since. */
function waitMs(run: AnalysisRun, analysis: Analysis, nowMs: number): number {
  const { initialDelayMs, intervalMs } = pacingOf(analysis)
  const leftMs = (parseTime(run.nextAt ?? run.startedAt) ?? nowMs) - nowMs
  return leftMs > Math.max(initialDelayMs, intervalMs) ? 0 : leftMs
}

function stamp(ms: number): string {
  return timeText(ms)
}
