import type { ControllerRevision } from '@tranche/kube-types'
import { hashOf } from '../../release/view/discover-revisions.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/** @returns the number of the ControllerRevision of a revision, the highest of several; undefined where there is none */
export function numberOf(revisions: readonly ControllerRevision[], hash: string): number | undefined {
  const numbers = revisions.filter((one) => hashOf(one) === hash).map(({ revision }) => revision)
  return numbers.length === 0 ? undefined : Math.max(...numbers)
}

/**
 * Whether the released template was replaced and applied again while no controller watched, so that its release starts again
 * (G3, G10). The DaemonSet controller then gives its ControllerRevision a higher number. It counts only where the spec of the
 * DaemonSet changed since our last status, because a lagging watch of ControllerRevisions shows a number late. Where that
 * watch lags behind the one of DaemonSets, the change is missed, and the release continues.
 */
export function isAppliedAgain({ rollout, daemonSet, revisions }: RolloutView, { canary, canaryNumber }: RolloutState): boolean {
  const number = numberOf(revisions, canary.canaryRevision)
  const seen = rollout.status?.canaryStatus?.observedWorkloadGeneration
  if (number === undefined || canaryNumber === undefined || number <= canaryNumber || seen === undefined) return false
  return (daemonSet?.metadata.generation ?? 0) > seen
}
