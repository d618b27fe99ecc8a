import type { RolloutStatus } from '@tranche/api-schema'
import { hasOldPod } from '@tranche/fence'
import type { DaemonSet } from '@tranche/kube-types'
import { hashOf, templateOf, templateText } from '../../release/view/discover-revisions.ts'
import { heldTemplate, templateDigest } from './held-revisions.ts'
import { templateToPutBack } from './plan-revert.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/**
 * Whether a rollback is in progress: the stable template is there again, put back by the controller or applied by a user. Config that cannot
 * be pinned does not hold a rollback, and no change of config begins another release meanwhile: the version that is rolled back is worse (G9).
 */
export function isOnTheWayBack(view: RolloutView): boolean {
  const { daemonSet, rollout } = view
  const { phase, canaryStatus, rollbackFrom } = rollout.status ?? {}
  if (daemonSet === undefined || canaryStatus?.stableRevision === undefined || !isUnderWayIn(phase)) return false
  if (rollbackFrom === undefined && canaryStatus.canaryRevision === canaryStatus.stableRevision) return false
  return hasStableTemplate(view, daemonSet, canaryStatus.stableRevision)
}

/** A rollback continues while the Rollout is disabled or deleted. */
function isUnderWayIn(phase: RolloutStatus['phase']): boolean {
  return phase === 'Progressing' || phase === 'Disabling' || phase === 'Terminating'
}

/**
 * A status alone does not make the present template the stable one, because more users may write it than BatchReleases. That of the Rollout has the
 * stable revision from before.
 */
function hasStableTemplate(view: RolloutView, daemonSet: DaemonSet, stableRevision: string): boolean {
  return hasTemplateOf(view, daemonSet, stableRevision) && !isOfAnother(view, daemonSet, view.release?.spec.tranche?.stableRevision)
}

function isOfAnother({ revisions }: RolloutView, { spec }: DaemonSet, stableRevision: string | undefined): boolean {
  const own = revisions.find((one) => templateText(templateOf(one)) === templateText(spec.template))
  return own !== undefined && hashOf(own) !== stableRevision
}

function hasTemplateOf(view: RolloutView, { spec }: DaemonSet, stableRevision: string): boolean {
  const present = templateDigest(spec.template)
  if (view.rollout.status?.stableDigest === present) return true
  const stable = templateToPutBack(view, stableRevision)
  return stable !== null && templateDigest(stable) === present
}

/** Whether a rollback is in progress, or is about to put the stable template back: the present one is blocked, or its BatchRelease is held for that. */
export function isRollingBack(view: RolloutView): boolean {
  const { daemonSet, rollout, release } = view
  const { heldRevisions = [], canaryStatus, canaryDigest } = rollout.status ?? {}
  if (daemonSet === undefined || isOnTheWayBack(view)) return daemonSet !== undefined
  if (heldTemplate(heldRevisions, daemonSet) !== undefined) return true
  const { hold } = release?.spec.tranche ?? {}
  const isHeld = hold?.reason === 'RevisionHeld' && hold.id === canaryStatus?.canaryRevision
  return isHeld && canaryDigest === templateDigest(daemonSet.spec.template)
}

/** Whether a rollback is over, and its template is still the present one. Nodes that it left behind run the version that was rolled back. */
export function isRolledBack(view: RolloutView): boolean {
  const { daemonSet } = view
  const { phase, rollbackFrom, stableRevision } = view.rollout.status ?? {}
  if (phase !== 'Healthy' || rollbackFrom === undefined) return false
  if (daemonSet === undefined || stableRevision === undefined) return false
  if (view.release !== undefined) return hasStableTemplate(view, daemonSet, stableRevision)
  // No node is left, so nothing is released.
  return hasTemplateOf(view, daemonSet, stableRevision) && view.fleet.nodes.every((node) => !hasOldPod(node, stableRevision))
}
