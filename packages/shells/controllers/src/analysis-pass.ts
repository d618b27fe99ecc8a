import {
  analysisOf,
  argumentValues,
  type DueMeasurement,
  fitForStatus,
  judgeQuickly,
  type MeasurementOutcome,
  planAnalyses,
  recordMeasurement,
  requestFault,
  runsPatch,
  runText,
  toRequest,
} from '@tranche/analysis'
import type { AnalysisRun, BatchRelease } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { keyText, type ObjectKey, rolloutOf, valueIn } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import { awaitChange, type EventRecorder, type ReconcileResult, type Reconcile, recheckAfter } from '@tranche/reconcile'
import type { AnalysisPort, AnalysisReading, JudgePort, MetricPort, MetricResult } from './analysis-port.ts'

/** Dependencies of {@link createAnalysisPass}. */
export interface AnalysisParts {
  readonly cluster: AnalysisPort
  readonly metrics: MetricPort
  readonly judge: JudgePort
  readonly clock: Clock
  readonly events: EventRecorder
  /** Wakes a key (as `keyText` writes it) for another pass after a measurement has ended. */
  readonly wake: (key: string) => void
}

/** Pass over the analyses of one BatchRelease, and its background measurements. */
export interface AnalysisPass {
  readonly reconcile: Reconcile
  /** Aborts every measurement in flight; the next leader measures again. */
  stop(): void
}

/**
 * Measures what is due for one BatchRelease and writes the results: one write per pass, which tests what was read.
 *
 * No pass waits for a response: one measurement per analysis runs beside the passes and wakes the key when it ends. Until its outcome is
 * written, only this process remembers it: a process that dies or loses the lead has measured nothing (G7).
 */
export function createAnalysisPass(parts: AnalysisParts): AnalysisPass {
  const memories = new Map<string, Memory>()
  return {
    async reconcile(key, signal, log) {
      const reading = parts.cluster.read(key)
      const memory = memories.get(keyText(key)) ?? { underWay: new Map<string, UnderWay>() }
      if (reading === null) {
        endAll(memory)
        memories.delete(keyText(key))
        return awaitChange
      }
      memories.set(keyText(key), memory)
      return passOver(reading, { ...parts, key, memory, signal, log })
    },
    stop() {
      for (const memory of memories.values()) endAll(memory)
      memories.clear()
    },
  }
}

/** Measurements of one release, by the run and the state in which they became due. */
interface Memory {
  readonly underWay: Map<string, UnderWay>
}

interface UnderWay {
  readonly ending: AbortController
  /** Start time, epoch milliseconds. */
  readonly atMs: number
  /** Null while it is in progress. */
  outcome: MeasurementOutcome | null
}

interface Doing extends AnalysisParts {
  readonly log: Logger
  readonly key: ObjectKey
  readonly memory: Memory
  readonly signal: AbortSignal
}

async function passOver(reading: AnalysisReading, doing: Doing): Promise<ReconcileResult> {
  const { release } = reading
  const { cluster, clock, log, memory, key, signal } = doing
  const stored = release.status?.analysis ?? []
  const nowMs = clock.nowMs()
  const plan = planAnalyses({ release, runs: withOutcomes(release, stored, memory, nowMs), nowMs })
  if (plan.runs !== stored) {
    await cluster.patchStatus(release, runsPatch(release, plan.runs), signal)
    log.info({ batchRelease: keyText(key), analyses: plan.runs.length }, 'wrote analyses')
    recordEnded(release, stored, plan.runs, doing)
    return recheckAfter(0)
  }
  const due = new Map(plan.due.map((one) => [measurementId(one.run), one]))
  for (const [id, underWay] of memory.underWay) if (!due.has(id)) end(memory, id, underWay)
  for (const [id, one] of due) if (!memory.underWay.has(id)) begin(id, one, { ...doing, reading })
  return plan.recheckAfterMs === null ? awaitChange : recheckAfter(plan.recheckAfterMs)
}

/** Identifies a measurement by its run's state when it became due: after any later write, the measurement is useless. */
function measurementId({ name, step, startedAt, nextAt, release, spec, retry }: AnalysisRun): string {
  return JSON.stringify([name, step, startedAt, nextAt, release, spec, retry])
}

function withOutcomes(release: BatchRelease, runs: readonly AnalysisRun[], memory: Memory, nowMs: number): readonly AnalysisRun[] {
  const done = runs.map((run) => {
    const { outcome = null, atMs = nowMs } = memory.underWay.get(measurementId(run)) ?? {}
    const analysis = analysisOf(release.spec.tranche, run)
    if (outcome === null || analysis === undefined || run.phase !== 'Running') return run
    return recordMeasurement({ run, analysis }, outcome, { atMs, nowMs })
  })
  return done.every((run, at) => run === runs[at]) ? runs : done
}

function begin(id: string, due: DueMeasurement, doing: Doing & { readonly reading: AnalysisReading }): void {
  const { memory, clock, key, wake } = doing
  const underWay: UnderWay = { ending: new AbortController(), atMs: clock.nowMs(), outcome: null }
  memory.underWay.set(id, underWay)
  const settle = (outcome: MeasurementOutcome): void => {
    underWay.outcome = outcome
    if (memory.underWay.get(id) === underWay) wake(keyText(key))
  }
  measure(due, doing, underWay).then(settle, (error: unknown) => {
    if (underWay.ending.signal.aborted) return
    doing.log.error({ batchRelease: keyText(key), analysis: due.analysis.name, err: error }, 'measurement failed unexpectedly')
    settle({ phase: 'Error', message: 'the measurement failed; see the controller log' })
  })
}

/** Extra time beyond its own limit after which a measurement is abandoned, in milliseconds, for example while it waits for a Secret. */
const GRACE_MS = 500

async function measure(
  { analysis, step }: DueMeasurement,
  { reading, key, metrics, judge, clock }: Doing & { readonly reading: AnalysisReading },
  { ending, atMs }: UnderWay,
): Promise<MeasurementOutcome> {
  const values = argumentValues({ release: reading.release, analysis, step, nodes: reading.nodes() })
  const fault = requestFault(analysis, values)
  if (fault !== null) return { phase: 'Error', message: fault }
  const request = toRequest(analysis, values, atMs)
  if (request === null) return { phase: 'Error', message: 'it has no provider; add prometheus or http' }
  const late = lateAfter(clock, request.timeoutMs)
  try {
    const result = await Promise.race([metrics.ask(key.namespace, request, AbortSignal.any([ending.signal, late.signal])), late.answer])
    if (result.kind === 'failed') return { phase: 'Error', message: result.message }
    const { conceal, ...answer } = result.answer
    const judged = { analysis, values, answer }
    return fitForStatus(judgeQuickly(judged) ?? (await judge.judge(key.namespace, judged, ending.signal)), conceal)
  } finally {
    late.cancel()
  }
}

interface Late {
  readonly answer: Promise<MetricResult>
  readonly signal: AbortSignal
  cancel(): void
}

function lateAfter(clock: Clock, timeoutMs: number): Late {
  const { promise, resolve } = Promise.withResolvers<MetricResult>()
  const giving = new AbortController()
  const timer = clock.setTimer(timeoutMs + GRACE_MS, () => {
    resolve({ kind: 'failed', message: `no answer within ${timeoutMs} ms` })
    giving.abort(new Error('the measurement took too long'))
  })
  return { answer: promise, signal: giving.signal, cancel: () => timer.cancel() }
}

function endAll(memory: Memory): void {
  for (const [id, underWay] of memory.underWay) end(memory, id, underWay)
}

function end(memory: Memory, id: string, { ending }: UnderWay): void {
  memory.underWay.delete(id)
  ending.abort(new Error('the measurement is no longer needed'))
}

/**
 * Records the result of an analysis on the Rollout, once, because this process has just written it. An inconclusive result is reported by
 * the stall that it causes, except in a dry run.
 */
function recordEnded(release: BatchRelease, before: readonly AnalysisRun[], after: readonly AnalysisRun[], { events, key }: Doing): void {
  const owner = rolloutOf(release)
  if (owner === undefined) return
  const running = new Set(before.filter(({ phase }) => phase === 'Running').map(runId))
  for (const run of after) {
    const eventReason = valueIn(eventReasons, run.phase)
    if (eventReason === undefined || !running.has(runId(run))) continue
    const isDry = run.dryRun === true
    if (eventReason.reason === 'AnalysisInconclusive' && !isDry) continue
    const note = isDry ? ' (dry run: no effect on the release)' : ''
    events.record({ ...owner, namespace: key.namespace }, isDry ? 'Normal' : eventReason.type, eventReason.reason, `${runText(run)}${note}`)
  }
}

function runId({ name, step, startedAt }: AnalysisRun): string {
  return JSON.stringify([name, step, startedAt])
}

const eventReasons: Readonly<Record<string, { readonly type: 'Normal' | 'Warning'; readonly reason: string }>> = {
  Successful: { type: 'Normal', reason: 'AnalysisSuccessful' },
  Failed: { type: 'Warning', reason: 'AnalysisFailed' },
  Inconclusive: { type: 'Warning', reason: 'AnalysisInconclusive' },
  Error: { type: 'Warning', reason: 'AnalysisInconclusive' },
}
