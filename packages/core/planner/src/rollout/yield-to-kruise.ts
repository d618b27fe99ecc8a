import type { RolloutCondition, RolloutStatus } from '@tranche/api-schema'
import { daemonSetAnnotations, isSameJson } from '@tranche/kube-types'
import { type KruiseActivity, kruiseActiveText } from '../release/view/kruise-activity.ts'
import { isForeign } from './release/batch-release-summary.ts'
import { type RolloutPlan, wait } from './view/rollout-plan.ts'
import type { RolloutView } from './view/rollout-view.ts'

/**
 * While OpenKruise's controller is active, a Rollout that it manages is left to it: only the three conditions that no other
 * controller writes say why Tranche does nothing. Null where it is not active, or Tranche manages the Rollout already.
 */
export function planYieldToKruise(view: RolloutView): RolloutPlan | null {
  const { kruise, rollout } = view
  if (kruise === null || isOurs(view)) return null
  const status = yieldingStatus(rollout.status, view, kruise)
  return status === undefined || isSameJson(status, rollout.status)
    ? wait('another controller of DaemonSets to stop', kruise.activeForMs)
    : { kind: 'writeStatus', status, warning: null }
}

/** Whether Tranche bound or released it before OpenKruise's controller came. */
function isOurs(view: RolloutView): boolean {
  const { rollout, daemonSet, release } = view
  if (release !== undefined && !isForeign(view) && release.spec.tranche !== undefined) return true
  if (daemonSet?.metadata.annotations?.[daemonSetAnnotations.rollout] === rollout.metadata.name) return true
  // No status has been written yet: our first one says that we wait.
  return rollout.status === undefined
}

function yieldingStatus(status: RolloutStatus | undefined, { nowMs }: RolloutView, kruise: KruiseActivity): RolloutStatus | undefined {
  if (status === undefined) return undefined
  const message = kruiseActiveText(kruise)
  const said = [
    { type: 'Ready', status: 'False', reason: 'OpenKruiseActive', message },
    { type: 'Reconciling', status: 'False', reason: 'OpenKruiseActive', message: '' },
    { type: 'Stalled', status: 'True', reason: 'OpenKruiseActive', message },
  ] as const
  const before = status.conditions ?? []
  const now = new Date(nowMs).toISOString()
  const own = said.map((condition): RolloutCondition => {
    const known = before.find(({ type }) => type === condition.type)
    const isKnown = known?.status === condition.status && known.message === condition.message
    return isKnown ? known : { ...condition, lastUpdateTime: now, lastTransitionTime: now }
  })
  return { ...status, conditions: [...before.filter(({ type }) => !said.some((other) => other.type === type)), ...own] }
}
