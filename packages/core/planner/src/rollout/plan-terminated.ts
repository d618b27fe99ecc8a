import type { RolloutCondition } from '@tranche/api-schema'
import type { RolloutPlan } from './view/rollout-plan.ts'
import { nextRolloutStatus } from './rollout-status.ts'
import type { RolloutView } from './view/rollout-view.ts'

/** Reports that everything was detached, before the finalizer is removed, for clients that watch the deletion. Null once reported. */
export function planTerminated(view: RolloutView): RolloutPlan | null {
  const before = view.rollout.status
  if (before === undefined || before.conditions?.some(isTerminated) === true) return null
  const { conditions = [], ...status } = nextRolloutStatus(view).status
  const now = new Date(view.nowMs).toISOString()
  const said = conditions.map((condition) => (condition.type === 'Terminating' ? terminated(condition, now) : condition))
  return { kind: 'writeStatus', status: { ...status, conditions: said }, warning: null }
}

function isTerminated({ type, reason }: RolloutCondition): boolean {
  return type === 'Terminating' && reason === 'Completed'
}

function terminated(condition: RolloutCondition, now: string): RolloutCondition {
  return {
    ...condition,
    status: 'False',
    reason: 'Completed',
    message: 'detached from the DaemonSet',
    lastUpdateTime: now,
    lastTransitionTime: now,
  }
}
