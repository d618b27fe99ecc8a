import type { ReleasePlan } from '@tranche/api-schema'
import { goJson, sha256Hex } from '@tranche/kube-types'

/**
 * Hash that OpenKruise writes to `observedReleasePlanHash` of a BatchRelease: SHA-256, in hexadecimal, of the plan as its Go
 * types serialize it to JSON. The status refers to `spec.releasePlan` where the hashes are equal.
 */
export function releasePlanHash(plan: ReleasePlan): string {
  const known = hashes.get(plan)
  if (known !== undefined) return known
  const hash = hashOf(plan)
  hashes.set(plan, hash)
  return hash
}

/** Hashes by plan: every pass asks for the same, and the schema states no maximum number of batches. */
const hashes = new WeakMap<ReleasePlan, string>()

function hashOf(plan: ReleasePlan): string {
  // In the field order of OpenKruise's type; empty fields are omitted, except the first and the last.
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
