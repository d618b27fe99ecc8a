import { type AcceptedActions, type CanaryStatus, REVISION_HASH, type RolloutStatus, sizeLimits } from '@tranche/api-schema'
import { isForeign } from '../release/batch-release-summary.ts'
import { acceptedActionsOf } from '../view/accepted-actions.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/**
 * The status without names and numbers that the spec of a BatchRelease cannot hold, which a user may have written under definitions without these
 * limits. The API server would reject each update of the BatchRelease, and no stop would reach it (G9). What the BatchRelease says takes
 * their place, where it keeps to the limits itself.
 *
 * @returns null where all are within their limits
 */
export function statusWithBoundedIdentities(view: RolloutView): RolloutStatus | null {
  const { status } = view.rollout
  if (status === undefined) return null
  const { canaryStatus, stableRevision } = status
  const retry = acceptedActionsOf(status).retry ?? ''
  const isCanaryBounded = canaryStatus === undefined || isBounded(canaryStatus)
  if (isCanaryBounded && isRevision(stableRevision) && retry.length <= sizeLimits.identity) return null
  const { stableRevision: _stable, acceptedActions: _actions, acceptedWishes: _before, ...rest } = status
  return {
    ...rest,
    ...(canaryStatus !== undefined && { canaryStatus: boundedCanary(view, canaryStatus) }),
    ...(stableRevision !== undefined && isRevision(stableRevision) && { stableRevision }),
    acceptedActions: withBoundedRetry(acceptedActionsOf(status)),
  }
}

function isBounded({ canaryRevision, stableRevision, currentStepIndex }: CanaryStatus): boolean {
  return isRevision(canaryRevision) && isRevision(stableRevision) && currentStepIndex >= 0
}

/** A hash that labels pods. */
function isRevision(text = ''): boolean {
  return text.length <= sizeLimits.name && REVISION_HASH.test(text)
}

function boundedCanary(view: RolloutView, { stableRevision, ...canary }: CanaryStatus): CanaryStatus {
  const known = isForeign(view) ? undefined : view.release?.spec.tranche
  const stable = [stableRevision, known?.stableRevision].find((revision) => revision !== undefined && isRevision(revision))
  return {
    ...canary,
    canaryRevision: [canary.canaryRevision, known?.canaryRevision].find(isRevision) ?? '',
    ...(stable !== undefined && { stableRevision: stable }),
    currentStepIndex: Math.max(0, canary.currentStepIndex),
  }
}

function withBoundedRetry({ retry = '', ...others }: AcceptedActions): AcceptedActions {
  return retry === '' || retry.length > sizeLimits.identity ? others : { ...others, retry }
}
