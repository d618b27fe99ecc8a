import type { Analysis, BatchRelease } from '@tranche/api-schema'
import { rolloutOf } from '@tranche/kube-types'
import type { AnalysisArgument } from '@tranche/validation'

/** What the arguments of an analysis are taken from. */
export interface ArgumentSource {
  readonly release: BatchRelease
  readonly analysis: Analysis
  /** From 1. */
  readonly step: number
  /** Names of the nodes that run the canary revision. */
  readonly nodes: readonly string[]
}

/** @returns every argument by its name, those of the analysis itself among them; empty text where there is nothing to say */
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
