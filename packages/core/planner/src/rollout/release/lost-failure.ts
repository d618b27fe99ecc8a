import { type Failure, type HeldBy, type Rollout, sizeLimits } from '@tranche/api-schema'
import { hasOldPod } from '@tranche/fence'
import { clipText } from '@tranche/kube-types'
import { failureBeforeStatus } from './failure-annotation.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import { policyTerms } from '../view/release-policy.ts'
import { isForeign } from './batch-release-summary.ts'
import { partsOfReleaseId, releaseId } from './release-id.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/**
 * The verdict that stops the present release, and that only the Rollout still has, in its status or the annotation that precedes it: the
 * BatchRelease that reached it was deleted. The next BatchRelease has a hold for it, which lasts as long (G7, G8). A retry lifts it, as does a
 * policy by which it would not stop the release. So it is for a verdict on nodes that the release had left, while there are any. Null without one.
 */
export function lostFailure(view: RolloutView, { acceptedActions }: Pick<RolloutState, 'acceptedActions'>): Failure | null {
  if (!isLost(view)) return null
  const known = [view.rollout.status?.failure, failureBeforeStatus(view)]
  return known.find((failure) => failure !== undefined && stillStops(view, failure, acceptedActions)) ?? null
}

function stillStops(view: RolloutView, failure: Failure, acceptedActions: RolloutState['acceptedActions']): boolean {
  if (failure.stops !== true || failure.retry !== acceptedActions.retry) return false
  if (failure.release !== releaseId(view.rollout) && !isOnNodesLeft(view, failure)) return false
  return mayStop(view, failure, acceptedActions)
}

/** @returns the hold of a BatchRelease that takes the place of the one that reached the verdict */
export function holdFor(rollout: Rollout, { reason, message }: Failure): HeldBy {
  return {
    reason: clipText(reason, sizeLimits.reason),
    id: clipText(releaseId(rollout), sizeLimits.identity),
    message: clipText(message, sizeLimits.message),
  }
}

/** Whether a hold of the BatchRelease stands for a verdict on the present release. */
export function isHoldForFailure({ rollout }: Pick<RolloutView, 'rollout'>, hold: HeldBy | undefined): boolean {
  return hold?.id === releaseId(rollout)
}

/** Whether the failure is of the version whose release has ended, or has begun again for the nodes that it had left, of which there are some. */
function isOnNodesLeft({ rollout: { status }, fleet }: RolloutView, failure: Failure): boolean {
  const { canaryRevision = '', stableRevision } = status?.canaryStatus ?? {}
  const isBegunAgain = status?.phase === 'Progressing' && canaryRevision === stableRevision && status.rollbackFrom === undefined
  if ((status?.phase !== 'Healthy' && !isBegunAgain) || partsOfReleaseId(failure.release).revision !== canaryRevision) return false
  return fleet.nodes.some((node) => hasOldPod(node, canaryRevision))
}

/** Whether no BatchRelease can have the verdict for long, or its spec has the hold for it. One that is being deleted judges no more. */
function isLost(view: RolloutView): boolean {
  const { rollout, release } = view
  if (release === undefined || isForeign(view) || release.metadata.deletionTimestamp !== undefined) return true
  const { tranche } = release.spec
  return tranche?.release !== releaseId(rollout) || isHoldForFailure(view, tranche.hold)
}

function mayStop(view: RolloutView, { reason }: Failure, { promote }: RolloutState['acceptedActions']): boolean {
  const { failure, analysis = [] } = policyTerms(view)
  const isMeasured = analysis.length > 0 && promote?.full !== true
  if (reason === 'AnalysisInconclusive') return isMeasured
  return failure?.action !== 'Continue' && (reason !== 'AnalysisFailed' || isMeasured)
}
