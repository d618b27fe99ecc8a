import type { RolloutPlan } from './view/rollout-plan.ts'
import type { RolloutView } from './view/rollout-view.ts'

/** Whether a plan pauses, holds or ends the release. Such a plan waits for nothing, whatever else a pass has to find out (G9). */
export function stopsRelease(plan: RolloutPlan, { release }: Pick<RolloutView, 'release'>): boolean {
  if (plan.kind === 'deleteRelease') return true
  if (plan.kind !== 'updateRelease') return false
  const [before, next] = [release?.spec.tranche, plan.spec.tranche]
  const isPaused = next?.paused === true && before?.paused !== true
  const isHeld = next?.hold !== undefined && next.hold.id !== before?.hold?.id
  return isPaused || isHeld
}
