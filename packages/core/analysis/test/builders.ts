import { analysisDigest } from '@tranche/analysis'
import type { Analysis, AnalysisRun, BatchRelease, BatchReleaseStatus, TrancheSpec } from '@tranche/api-schema'

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

/** A BatchRelease whose second of three batches is being updated. */
export function aRelease(tranche: TrancheSpec, status: Partial<BatchReleaseStatus> = {}, batchPartition: number | null = 1): BatchRelease {
  return {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'BatchRelease',
    metadata: { name: 'agent', namespace: 'default', uid: 'uid-1', resourceVersion: '7', generation: 1 },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
      releasePlan: {
        batches: [{ canaryReplicas: 1 }, { canaryReplicas: '50%' }, { canaryReplicas: '100%' }],
        ...(batchPartition !== null && { batchPartition }),
        rolloutID: 'v2',
        enableExtraWorkloadForCanary: false,
      },
      tranche: { release: 'r1', ...tranche },
    },
    status: { phase: 'Progressing', observedRelease: 'r1', canaryStatus: { currentBatch: 1, batchState: 'Upgrading' }, ...status },
  }
}
