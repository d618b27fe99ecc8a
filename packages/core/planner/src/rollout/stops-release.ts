import type { RolloutStatus } from '@tranche/api-schema'
import type { RolloutPlan } from './view/rollout-plan.ts'
import type { RolloutView } from './view/rollout-view.ts'

/** Whether a plan pauses, holds, ends or rolls back the release. Such a plan waits for nothing, whatever else a pass has to find out (G9). */
export function stopsRelease(plan: RolloutPlan, { release, rollout }: Pick<RolloutView, 'release' | 'rollout'>): boolean {
  if (plan.kind === 'deleteRelease') return true
  if (plan.kind === 'writeStatus') return hasNewHold(rollout.status, plan.status)
  if (plan.kind !== 'updateRelease') return false
  const [before, next] = [release?.spec.tranche, plan.spec.tranche]
  const isPaused = next?.paused === true && before?.paused !== true
  const isHeld = next?.hold !== undefined && next.hold.id !== before?.hold?.id
  return isPaused || isHeld
}

function hasNewHold(before: RolloutStatus | undefined, { heldRevisions = [] }: RolloutStatus): boolean {
  const known = new Set(before?.heldRevisions?.map(({ digest }) => digest))
  return heldRevisions.some(({ digest }) => !known.has(digest))
}
