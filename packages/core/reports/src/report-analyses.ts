import type { Analysis, AnalysisReport, AnalysisRun, Measurement } from '@tranche/api-schema'
import { analysisOf } from '@tranche/analysis'
import { stepsOf } from '@tranche/planner'
import { readJson } from '@tranche/kube-types'
import { type ConditionLimit, conditionLimit } from './condition-limit.ts'
import type { Outline } from './outline.ts'

/** Maximum number of reported analyses; a policy has at most 20, each in the background or in the current step. */
const ANALYSES_MAX = 50

/**
 * The analyses of the release: runs that count, and analyses that have not started. Runs of earlier rules, releases and retries are left
 * out. Empty without a release.
 */
export function reportAnalyses({ facts, release }: Outline): readonly AnalysisReport[] {
  const tranche = release?.spec.tranche
  const runs = (release?.status?.analysis ?? []).flatMap((run) => {
    const analysis = analysisOf(tranche, run)
    return analysis === undefined ? [] : [{ analysis, run }]
  })
  const { currentStepIndex = 1 } = facts.rollout.status?.canaryStatus ?? {}
  const steps = Array.from({ length: stepsOf(facts.rollout).length }, (_, at) => at + 1).slice(Math.max(0, currentStepIndex - 1))
  const pending = (tranche?.analysis ?? []).flatMap((analysis) => {
    const isStarted = (step: number | undefined): boolean => runs.some(({ run }) => run.name === analysis.name && run.step === step)
    if (analysis.background === true) return isStarted(undefined) ? [] : [pendingReport(analysis, undefined)]
    const next = steps.find((step) => analysis.steps === undefined || analysis.steps.includes(step))
    return next === undefined || isStarted(next) ? [] : [pendingReport(analysis, next)]
  })
  return [...runs.map(({ analysis, run }) => runReport(analysis, run)), ...pending].slice(0, ANALYSES_MAX)
}

function pendingReport(analysis: Analysis, step: number | undefined): AnalysisReport {
  return { ...termsOf(analysis), ...(step !== undefined && { step }), phase: 'Pending', measurements: [] }
}

function runReport(analysis: Analysis, run: AnalysisRun): AnalysisReport {
  const { step, phase, message, startedAt, nextAt, finishedAt, measurements = [] } = run
  return {
    ...termsOf(analysis),
    ...(step !== undefined && { step }),
    phase,
    ...(message !== undefined && { message }),
    startedAt,
    ...(nextAt !== undefined && { nextAt }),
    ...(finishedAt !== undefined && { finishedAt }),
    measurements: measurements.map((measurement) => measurementReport(analysis, measurement)),
  }
}

type Terms = Pick<AnalysisReport, 'name' | 'background' | 'required' | 'successCondition' | 'failureCondition' | 'limit'>

function termsOf(analysis: Analysis): Terms {
  const { name, background = false, dryRun = false, successCondition, failureCondition } = analysis
  const limit = conditionLimit(analysis)
  return {
    name,
    background,
    required: !dryRun,
    ...(successCondition !== undefined && { successCondition }),
    ...(failureCondition !== undefined && { failureCondition }),
    ...(limit !== undefined && { limit: { op: limit.op, value: limit.value } }),
  }
}

function measurementReport(analysis: Analysis, { at, phase, value, message }: Measurement): AnalysisReport['measurements'][number] {
  const measured = value === undefined ? undefined : measuredIn(value)
  const sample = sampleIn(measured, conditionLimit(analysis))
  return {
    at,
    phase,
    ...(value !== undefined && { value }),
    ...(sample !== undefined && { sample }),
    ...(Array.isArray(measured) && { size: measured.length }),
    ...(message !== undefined && { message }),
  }
}

/** The measured value; undefined if it was truncated, or is not JSON. Samples of Prometheus may be NaN or infinite, which JSON does not allow. */
function measuredIn(value: string): unknown {
  const text = value.replace(/^HTTP \d+ /, '')
  const samples = /^\[([^[\]{}"]*)\]$/.exec(text)?.[1]
  if (samples !== undefined) return samples === '' ? [] : samples.split(', ').map(Number)
  try {
    return readJson(text)
  } catch {
    return undefined
  }
}

/** The number that the limit is for, else the first one; of all items that a limit is for, the one nearest to breaking it. */
function sampleIn(measured: unknown, limit: ConditionLimit | undefined): number | undefined {
  if (limit?.path === 'every') {
    if (!isNumbers(measured) || measured.length === 0) return undefined
    return finite(limit.op.startsWith('<') ? Math.max(...measured) : Math.min(...measured))
  }
  const path = limit?.path ?? (Array.isArray(measured) ? [0] : [])
  return finite(path.reduce<unknown>((value, key) => memberOf(value, key), measured))
}

function memberOf(value: unknown, key: string | number): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string | number, unknown>)[key]
    : undefined
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'number')
}

function finite(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
