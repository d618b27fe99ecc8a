import type { ReleasePlan } from '@tranche/api-schema'
import { goJson, sha256Hex } from '@tranche/kube-types'

/**
 * What OpenKruise writes to `observedReleasePlanHash` of a BatchRelease: the SHA-256 of the plan as its types put it into
 * JSON, in hexadecimal. Where it is the hash of `spec.releasePlan`, the status speaks of that plan.
 */
export function releasePlanHash(plan: ReleasePlan): string {
  // In the order of the fields of OpenKruise's type; what is empty is left out, but for the first and the last.
  return sha256Hex(
    goJson({
      batches: plan.batches?.map(({ canaryReplicas }) => ({ canaryReplicas })) ?? null,
      batchPartition: plan.batchPartition,
      rolloutID: orNothing(plan.rolloutID),
      failureThreshold: plan.failureThreshold,
      finalizingPolicy: orNothing(plan.finalizingPolicy),
      patchPodTemplateMetadata: plan.patchPodTemplateMetadata,
      rollingStyle: orNothing(plan.rollingStyle),
      enableExtraWorkloadForCanary: plan.enableExtraWorkloadForCanary,
    }),
  )
}

function orNothing(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}
