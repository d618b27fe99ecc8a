import type { Analysis, AnalysisRun, BatchRelease } from '@tranche/api-schema'
import { isStopping } from './analysis-verdict.ts'
import { pacingOf } from './pacing.ts'
import { analysisDigest, analysisOf, isOfStep } from './run-identity.ts'

/** Everything a decision about the analyses of a release needs. */
export interface AnalysisView {
  readonly release: BatchRelease
  /** Its runs, with what has been measured and is not yet written. */
  readonly runs: readonly AnalysisRun[]
  /** Epoch milliseconds. */
  readonly nowMs: number
}

/** A measurement that is to be made now. */
export interface DueMeasurement {
  readonly run: AnalysisRun
  readonly analysis: Analysis
  /** The step that the release is in, from 1. */
  readonly step: number
}

/** What to do for the analyses of a release. */
export interface AnalysisPlan {
  /** The runs as they should stand; the very `runs` of the view where nothing changes. */
  readonly runs: readonly AnalysisRun[]
  /** Of these runs: what is due, in their order. */
  readonly due: readonly DueMeasurement[]
  /** When the clock alone will change the plan; null when it will not. */
  readonly recheckAfterMs: number | null
}

/** The most runs that a status carries: what has ended well goes first. */
const RUNS_MAX = 60

/**
 * Decides which analyses of a release run, and which are measured now. Pure: the status is all that is remembered, so that
 * whoever takes over goes on where the last one stopped (G7).
 *
 * In the background an analysis runs from the first batch until the release ends, also in pauses; one of a step runs when
 * the batch is ready and has soaked, and waits while it is not. Another release, another retry or other rules begin anew.
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

/** Where a release stands, as far as it is measured. */
type Stage = { readonly kind: 'before' } | { readonly kind: 'over' } | Running

interface Running {
  readonly kind: 'running'
  /** From 1; in the final batch the number of the last step. */
  readonly step: number
  /** How long the step's batch must still stay ready before its analyses begin; Infinity while it is not ready. */
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
  const isReady = canary.batchState === 'Ready' && canary.batchReadyTime !== undefined && canary.currentBatch === releasePlan.batchPartition
  const soakMs = (tranche?.stepSoakSeconds ?? 0) * 1000
  return {
    kind: 'running',
    step: Math.min(canary.currentBatch + 1, Math.max(1, releasePlan.batches?.length ?? 1)),
    soakLeftMs: isReady ? Math.max(0, Date.parse(canary.batchReadyTime ?? '') + soakMs - nowMs) : Number.POSITIVE_INFINITY,
  }
}

interface Wanted {
  readonly analysis: Analysis
  /** Absent in the background. */
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

/** The runs that still mean something, and those that begin now; the same array where that is all of them. */
function kept(view: AnalysisView, wanted: readonly Wanted[]): readonly AnalysisRun[] {
  const { release, runs } = view
  const tranche = release.spec.tranche
  const step = (release.status?.canaryStatus?.currentBatch ?? 0) + 1
  const staying = runs.filter((run) => analysisOf(tranche, run) !== undefined && (run.step === undefined || staysAfter(run, step)))
  const begun = wanted.filter(({ analysis, step: at }) => !staying.some((run) => run.name === analysis.name && run.step === at))
  if (begun.length === 0 && staying.length === runs.length && runs.length <= RUNS_MAX) return runs
  return bounded([...staying, ...begun.map((one) => begin(view, one))])
}

/** Of another step, only what stops the release, and dry runs that nobody waits for, stay. */
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

/** The release is over: what has not failed until now has succeeded. */
function finished({ runs, nowMs }: AnalysisView): readonly AnalysisRun[] {
  if (runs.every(({ phase }) => phase !== 'Running')) return runs
  return runs.map((run): AnalysisRun => {
    if (run.phase !== 'Running') return run
    const { nextAt: _due, ...rest } = run
    return { ...rest, phase: 'Successful', message: 'the release ended before it was measured to the end', finishedAt: stamp(nowMs) }
  })
}

/** A run that goes on, and may be measured as the release stands. */
function measurable({ spec }: BatchRelease, { step, soakLeftMs }: Running, run: AnalysisRun): readonly DueMeasurement[] {
  const analysis = analysisOf(spec.tranche, run)
  if (analysis === undefined || run.phase !== 'Running') return []
  const isWaiting = run.step === step && soakLeftMs > 0
  return isWaiting ? [] : [{ run, analysis, step: run.step ?? step }]
}

/** A time further away than any wait of the analysis was written by a clock that has been set back since. */
function waitMs(run: AnalysisRun, analysis: Analysis, nowMs: number): number {
  const { initialDelayMs, intervalMs } = pacingOf(analysis)
  const leftMs = Date.parse(run.nextAt ?? run.startedAt) - nowMs
  return leftMs > Math.max(initialDelayMs, intervalMs) ? 0 : leftMs
}

function stamp(ms: number): string {
  return new Date(ms).toISOString()
}
