import type { RolloutStatus } from '@tranche/api-schema'
import { isReleaseOf } from '@tranche/kube-types'
import { isAfterEnd } from '@tranche/verdict'
import type { RolloutView } from '../view/rollout-view.ts'
import { revisionsStillRun } from './former-revisions.ts'
import { completedCanary } from './start-state.ts'

/**
 * Status of a release that has ended, and that keeps its BatchRelease for nodes left; undefined without one. The spec of the BatchRelease
 * names the former revisions, of which dead nodes are exempt from the budget. It has no `observedGeneration`, because it is no stored one.
 */
export function statusOfEnded(view: RolloutView): RolloutStatus | undefined {
  const { rollout, release } = view
  if (release === undefined || !isAfterEnd(release) || !isReleaseOf(release, rollout)) return undefined
  const { canaryRevision = '', stableRevision = '', formerRevisions = [] } = release.spec.tranche ?? {}
  const canaryStatus = { ...completedCanary(view, canaryRevision), finalisingStep: 'END' as const }
  const { currentStepIndex, currentStepState } = canaryStatus
  const replaced = stableRevision === '' || formerRevisions.includes(stableRevision) ? [] : [stableRevision]
  return {
    phase: 'Healthy',
    stableRevision: canaryRevision,
    formerRevisions: revisionsStillRun(view.fleet, [...replaced, ...formerRevisions]),
    currentStepIndex,
    currentStepState,
    canaryStatus,
  }
}
