import type { Analysis, BatchRelease } from '@tranche/api-schema'
import { rolloutOf } from '@tranche/kube-types'
import type { AnalysisArgument } from '@tranche/validation'

/** Sources of the arguments of an analysis. */
export interface ArgumentSource {
  readonly release: BatchRelease
  readonly analysis: Analysis
  /** Number of the step, from 1. */
  readonly step: number
  /** Names of the nodes that run the canary revision. */
  readonly nodes: readonly string[]
}

/** @returns all arguments by name, including those of the analysis; empty text for one without a value */
export function argumentValues({ release, analysis, step, nodes }: ArgumentSource): Readonly<Record<string, string>> {
  const { metadata, spec, status } = release
  const own: Readonly<Record<AnalysisArgument, string>> = {
    namespace: metadata.namespace ?? '',
    rollout: rolloutOf(release)?.name ?? '',
    daemonSet: spec.workloadRef?.name ?? '',
    release: spec.releasePlan.rolloutID ?? '',
    canaryRevision: spec.tranche?.canaryRevision ?? status?.updateRevision ?? '',
    stableRevision: spec.tranche?.stableRevision ?? status?.stableRevision ?? '',
    stepIndex: String(step),
    nodes: nodes.join('|'),
  }
  return { ...Object.fromEntries((analysis.args ?? []).map(({ name, value }) => [name, value])), ...own }
}
