import { type BatchRelease, onDeletePolicies, type OnDeletePolicy, type Rollout } from '@tranche/api-schema'
import { rolloutAnnotations } from '@tranche/kube-types'
import { heldRevision } from './held-revisions.ts'

/** What becomes of a release when its Rollout is deleted or disabled; a word that is not known freezes it. */
export function onDeletePolicy({ metadata }: Rollout): OnDeletePolicy {
  const value = metadata.annotations?.[rolloutAnnotations.onDelete]
  return onDeletePolicies.find((policy) => policy === value) ?? 'Freeze'
}

/** The Rollout is deleted or disabled: our control ends. */
export function isGoing({ metadata, spec }: Rollout): boolean {
  return metadata.deletionTimestamp !== undefined || spec.disabled === true
}

/** The Rollout is deleted or disabled, and its release is brought to an end first. */
export function endsRelease(rollout: Rollout): boolean {
  return isGoing(rollout) && onDeletePolicy(rollout) !== 'Freeze'
}

/**
 * Somebody has paused, and pausing stops everything: what a policy alone asks for waits until they resume. A person's abort does
 * not, nor what brings a Rollout that goes to its end.
 */
export function waitsForResume(rollout: Rollout): boolean {
  return rollout.spec.strategy.paused === true && !endsRelease(rollout)
}

/**
 * Whether the Rollout asks for a stop that its BatchRelease does not know of yet (F9): that it goes, a pause, or that the
 * revision was taken back (G12). Whoever wants the release to be brought to an end before the Rollout goes wants that in a
 * pause too.
 */
export function isStopAsked(rollout: Rollout, release: BatchRelease): boolean {
  const { canaryRevision, hold, paused } = release.spec.tranche ?? {}
  if (hold === undefined && canaryRevision !== undefined && heldRevision(rollout, canaryRevision) !== undefined) return true
  if (endsRelease(rollout)) return false
  if (isGoing(rollout)) return true
  return rollout.spec.strategy.paused === true && paused !== true
}
