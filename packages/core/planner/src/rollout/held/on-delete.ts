import { type BatchRelease, onDeletePolicies, type OnDeletePolicy, type Rollout } from '@tranche/api-schema'
import { rolloutAnnotations } from '@tranche/kube-types'
import { heldRevision } from './held-revisions.ts'

/** Fate of a release when its Rollout is deleted or disabled; an unknown value freezes it. */
export function onDeletePolicy({ metadata }: Rollout): OnDeletePolicy {
  const value = metadata.annotations?.[rolloutAnnotations.onDelete]
  return onDeletePolicies.find((policy) => policy === value) ?? 'Freeze'
}

/** Whether the Rollout is deleted or disabled, so that control ends. */
export function isDeletedOrDisabled({ metadata, spec }: Rollout): boolean {
  return metadata.deletionTimestamp !== undefined || spec.disabled === true
}

/** Whether the Rollout is deleted or disabled, and its release is completed or rolled back first. */
export function endsRelease(rollout: Rollout): boolean {
  return isDeletedOrDisabled(rollout) && onDeletePolicy(rollout) !== 'Freeze'
}

/**
 * Whether a user's pause stops it. A pause stops everything: what a policy alone asks for waits until resume. It does not
 * stop a user's abort, nor the steps that end a deleted or disabled Rollout.
 */
export function waitsForResume(rollout: Rollout): boolean {
  return rollout.spec.strategy.paused === true && !endsRelease(rollout)
}

/**
 * Whether the Rollout asks for a stop that its BatchRelease has not received yet (F9): a deletion, a pause, or a rolled-back
 * revision (G12). A release that must end before the Rollout is deleted continues in a pause, too.
 */
export function isStopAsked(rollout: Rollout, release: BatchRelease): boolean {
  const { canaryRevision, hold, paused } = release.spec.tranche ?? {}
  if (hold === undefined && canaryRevision !== undefined && heldRevision(rollout, canaryRevision) !== undefined) return true
  if (endsRelease(rollout)) return false
  if (isDeletedOrDisabled(rollout)) return true
  return rollout.spec.strategy.paused === true && paused !== true
}
