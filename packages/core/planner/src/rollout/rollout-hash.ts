import type { CanaryStrategy, Rollout } from '@tranche/api-schema'
import { goJson, sha256Hex } from '@tranche/kube-types'

/** The letters and digits of Kubernetes' safe encoding: none of them makes a word. */
const SAFE = 'bcdfghjklmnpqrstvwxz2456789'

/**
 * What OpenKruise writes to `rollouts.kruise.io/hash` of a Rollout with such steps, and to `canaryStatus.rolloutHash`: it
 * changes when the steps do, and not with a pause or `failureThreshold`. Readers compare the two: where they differ, the
 * status does not speak of these steps yet.
 *
 * @returns 64 characters; null without a canary strategy, or where it has members that are not for DaemonSets
 */
export function rolloutHash({ spec }: Rollout): string | null {
  const { canary } = spec.strategy
  if (canary === undefined || hasForeignMembers(canary)) return null
  // In the order of the fields of OpenKruise's types; what is empty is left out, but for the pause.
  const text = goJson({
    steps: orNothing((canary.steps ?? []).map(({ replicas }) => ({ replicas, pause: {} }))),
    enableExtraWorkloadForCanary: canary.enableExtraWorkloadForCanary === true ? true : undefined,
    disableGenerateCanaryService: canary.disableGenerateCanaryService === true ? true : undefined,
  })
  return sha256Hex(text).replace(/./g, (digit) => SAFE[digit.charCodeAt(0) % SAFE.length] ?? '')
}

/** A Rollout with these is never acted on, so nobody waits for its hash. */
function hasForeignMembers({ steps = [], trafficRoutings, trafficRoutingRef, patchPodTemplateMetadata }: CanaryStrategy): boolean {
  const isForeign = [trafficRoutings, trafficRoutingRef, patchPodTemplateMetadata].some((member) => member !== undefined)
  return (
    isForeign || steps.some(({ traffic, matches, requestHeaderModifier }) => (traffic ?? matches ?? requestHeaderModifier) !== undefined)
  )
}

function orNothing<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list
}
