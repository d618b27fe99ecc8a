import type { RolloutPlan } from './rollout-plan.ts'

/**
 * A write of a pass over a Rollout that the API server may reject for good: why the DaemonSet is patched, or what happens to the BatchRelease. A
 * touch is none: it comes instead of a wait, which the status has.
 */
export type RejectableChange =
  | Exclude<Extract<RolloutPlan, { readonly kind: 'patchDaemonSet' }>['why'], 'touch'>
  | Extract<RolloutPlan['kind'], 'createRelease' | 'updateRelease' | 'deleteRelease'>

/** A change that the API server rejects for its content or for a rule. */
export interface RejectedChange {
  readonly change: RejectableChange
  /** Words of the API server; of any length. */
  readonly message: string
}

/** @returns the change that a plan makes; undefined where it only writes to the Rollout, or touches the DaemonSet */
export function changeOf(plan: RolloutPlan): RejectableChange | undefined {
  if (plan.kind === 'patchDaemonSet') return plan.why === 'touch' ? undefined : plan.why
  const { kind } = plan
  return kind === 'createRelease' || kind === 'updateRelease' || kind === 'deleteRelease' ? kind : undefined
}
