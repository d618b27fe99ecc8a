import { analysisDigest } from '@tranche/analysis'
import type { Analysis, AnalysisRun, TrancheSpec } from '@tranche/api-schema'

/** An analysis of a Prometheus server that succeeds below 0.05. */
export function anAnalysis(name: string, rules: Partial<Analysis> = {}): Analysis {
  return {
    name,
    prometheus: { address: 'http://prometheus.example:9090', query: 'errors{revision="{{canaryRevision}}"}' },
    successCondition: 'result[0] < 0.05',
    ...rules,
  }
}

/** A run of an analysis as the spec has it. */
export function aRun(tranche: TrancheSpec, name: string, members: Partial<AnalysisRun> = {}): AnalysisRun {
  const analysis = tranche.analysis?.find((one) => one.name === name)
  if (analysis === undefined) throw new Error(`the spec has no analysis ${name}`)
  return {
    name,
    release: tranche.release ?? '',
    spec: analysisDigest(analysis),
    phase: 'Running',
    startedAt: '2026-01-01T00:00:00.000Z',
    ...members,
  }
}
