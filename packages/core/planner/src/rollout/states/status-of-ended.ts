import type { RolloutStatus } from '@tranche/api-schema'
import { isReleaseOf } from '@tranche/kube-types'
import { isAfterEnd } from '@tranche/verdict'
import type { RolloutView } from '../view/rollout-view.ts'
import { completedCanary } from './start-state.ts'

/**
 * Status of a release that has ended, and that keeps its BatchRelease for nodes left; undefined without one. It has no `observedGeneration`,
 * because it is no stored one.
 */
export function statusOfEnded(view: RolloutView): RolloutStatus | undefined {
  const { rollout, release } = view
  if (release === undefined || !isAfterEnd(release) || !isReleaseOf(release, rollout)) return undefined
  const { canaryRevision = '', retry } = release.spec.tranche ?? {}
  const canaryStatus = { ...completedCanary(view, canaryRevision), finalisingStep: 'END' as const }
  const { currentStepIndex, currentStepState } = canaryStatus
  const acceptedActions = retry === undefined ? {} : { acceptedActions: { retry } }
  return { phase: 'Healthy', stableRevision: canaryRevision, currentStepIndex, currentStepState, canaryStatus, ...acceptedActions }
}
