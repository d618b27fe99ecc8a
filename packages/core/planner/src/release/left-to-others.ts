import { rolloutOf } from '@tranche/kube-types'
import type { BatchReleasePlan } from './view/batch-release-plan.ts'
import type { ReleaseView } from './view/release-view.ts'

/**
 * Leaves a BatchRelease alone that no Tranche Rollout has written yet, while OpenKruise's controller is active and until its
 * Rollout has taken it over. Null where Tranche wrote it, or where it was written by hand.
 */
export function planLeftToOthers({ release, kruise }: ReleaseView): BatchReleasePlan | null {
  if (release.spec.tranche !== undefined) return null
  if (kruise !== null) return { kind: 'wait', for: 'another controller of DaemonSets to stop', recheckAfterMs: kruise.activeForMs }
  const isOwned = rolloutOf(release) !== undefined
  if (!isOwned || release.metadata.deletionTimestamp !== undefined) return null
  return { kind: 'wait', for: 'its Rollout to take it over', recheckAfterMs: null }
}
