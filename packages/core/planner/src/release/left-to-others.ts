import { rolloutOf } from '@tranche/kube-types'
import type { BatchReleasePlan } from './batch-release-plan.ts'
import type { ReleaseView } from './release-view.ts'

/**
 * A BatchRelease that no Rollout of ours has written yet is left alone while another controller is active, and until its
 * Rollout has taken it over. Null where it is ours, or written by hand.
 */
export function planLeftToOthers({ release, kruise }: ReleaseView): BatchReleasePlan | null {
  if (release.spec.tranche !== undefined) return null
  if (kruise !== null) return { kind: 'wait', for: 'another controller of DaemonSets to stop', recheckAfterMs: kruise.activeForMs }
  const isOwned = rolloutOf(release) !== undefined
  if (!isOwned || release.metadata.deletionTimestamp !== undefined) return null
  return { kind: 'wait', for: 'its Rollout to take it over', recheckAfterMs: null }
}
