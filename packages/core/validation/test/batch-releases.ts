import type { BatchRelease, BatchReleaseSpec, ReleasePlan } from '@tranche/api-schema'

/** @returns a valid BatchRelease, as a person would write it, with the given changes */
export function batchReleaseWith(plan: Partial<ReleasePlan> = {}, spec: Partial<BatchReleaseSpec> = {}): BatchRelease {
  return {
    metadata: { name: 'by-hand', namespace: 'demo', uid: 'b1', resourceVersion: '1' },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'node-agent' },
      releasePlan: {
        batches: [{ canaryReplicas: 1 }, { canaryReplicas: '100%' }],
        batchPartition: 0,
        enableExtraWorkloadForCanary: false,
        ...plan,
      },
      ...spec,
    },
  }
}
