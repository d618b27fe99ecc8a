import type { ControllerRevision } from '@tranche/kube-types'
import { hashOf } from '../release/discover-revisions.ts'
import type { Course } from './course.ts'
import type { RolloutView } from './rollout-view.ts'

/** @returns the number of the ControllerRevision of a revision, the highest of several; undefined where there is none */
export function numberOf(revisions: readonly ControllerRevision[], hash: string): number | undefined {
  const numbers = revisions.filter((one) => hashOf(one) === hash).map(({ revision }) => revision)
  return numbers.length === 0 ? undefined : Math.max(...numbers)
}

/**
 * Whether the template that is released went and came again while no controller looked, so that its release begins again (G3, G10): the
 * DaemonSet controller gives a ControllerRevision that becomes the present one again a higher number. Only where the spec of the DaemonSet
 * has changed since our last status: a watch of ControllerRevisions that lags behind shows a number late.
 */
export function isAppliedAgain({ rollout, daemonSet, revisions }: RolloutView, { canary, canaryNumber }: Course): boolean {
  const number = numberOf(revisions, canary.canaryRevision)
  const seen = rollout.status?.canaryStatus?.observedWorkloadGeneration
  if (number === undefined || canaryNumber === undefined || number <= canaryNumber || seen === undefined) return false
  return (daemonSet?.metadata.generation ?? 0) > seen
}
