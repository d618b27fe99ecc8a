import type { CanaryStrategy, Rollout } from '@tranche/api-schema'
import { goJson, sha256Hex } from '@tranche/kube-types'

/** Letters and digits of Kubernetes' safe encoding, which form no words. */
const SAFE = 'bcdfghjklmnpqrstvwxz2456789'

/**
 * Hash that OpenKruise writes to `rollouts.kruise.io/hash` of a Rollout with such steps, and to `canaryStatus.rolloutHash`.
 * It changes with the steps, not with a pause or `failureThreshold`. Where the two differ, the status does not describe these
 * steps yet.
 *
 * @returns 64 characters; null without a canary strategy, or where it has members that do not apply to DaemonSets
 */
export function rolloutHash({ spec }: Rollout): string | null {
  const { canary } = spec.strategy
  if (canary === undefined || hasForeignMembers(canary)) return null
  // In the field order of OpenKruise's types; empty fields are omitted, except the pause.
  const text = goJson({
    steps: orNothing((canary.steps ?? []).map(({ replicas }) => ({ replicas, pause: {} }))),
    enableExtraWorkloadForCanary: canary.enableExtraWorkloadForCanary === true ? true : undefined,
    disableGenerateCanaryService: canary.disableGenerateCanaryService === true ? true : undefined,
  })
  return sha256Hex(text).replace(/./g, (digit) => SAFE[digit.charCodeAt(0) % SAFE.length] ?? '')
}

/** Tranche never acts on a Rollout with these, so no reader waits for its hash. */
function hasForeignMembers({ steps = [], trafficRoutings, trafficRoutingRef, patchPodTemplateMetadata }: CanaryStrategy): boolean {
  const isForeign = [trafficRoutings, trafficRoutingRef, patchPodTemplateMetadata].some((member) => member !== undefined)
  return (
    isForeign || steps.some(({ traffic, matches, requestHeaderModifier }) => (traffic ?? matches ?? requestHeaderModifier) !== undefined)
  )
}

function orNothing<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list
}
