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
 * (G3, G10), or is blocked after a failure (G12). The DaemonSet controller then gives its ControllerRevision a higher number than the one
 * of the other template, which it has given before. Either number shows the change, because events of ControllerRevisions may come later than those of the DaemonSet. It counts only where the
 * spec of the DaemonSet changed since our last status: a lagging watch shows a number late. Where it shows neither number in time,
 * the change is missed, and the release continues.
 */
export function isAppliedAgain({ rollout, daemonSet, revisions }: RolloutView, { canary, canaryNumber }: RolloutState): boolean {
  const seen = rollout.status?.canaryStatus?.observedWorkloadGeneration
  if (numberOf(revisions, canary.canaryRevision) === undefined || canaryNumber === undefined || seen === undefined) return false
  return revisions.some(({ revision }) => revision > canaryNumber) && (daemonSet?.metadata.generation ?? 0) > seen
}
