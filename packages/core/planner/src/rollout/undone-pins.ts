import { PINNED_CONFIG_ANNOTATION } from '@tranche/config'
import { templateDigest } from './held/held-revisions.ts'
import { templateToPutBack } from './held/plan-revert.ts'
import type { RolloutView } from './view/rollout-view.ts'

/**
 * Whether the template with these pins was rolled back, and the stable template is there again, which has none. It stays then: pinned again,
 * it would be the template that was rolled back.
 *
 * @param pins value of {@link PINNED_CONFIG_ANNOTATION}
 */
export function arePinsUndone(view: RolloutView, pins: string): boolean {
  const { daemonSet, rollout } = view
  const { heldRevisions = [], stableRevision, canaryStatus } = rollout.status ?? {}
  if (daemonSet === undefined || heldRevisions.length === 0) return false
  const { template } = daemonSet.spec
  const { metadata } = template
  const pinned = { ...template, metadata: { ...metadata, annotations: { ...metadata?.annotations, [PINNED_CONFIG_ANNOTATION]: pins } } }
  const digest = templateDigest(pinned)
  if (!heldRevisions.some((held) => held.digest === digest)) return false
  const stable = templateToPutBack(view, stableRevision ?? canaryStatus?.stableRevision)
  return stable !== null && templateDigest(stable) === templateDigest(template)
}
