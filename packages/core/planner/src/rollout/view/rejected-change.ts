import type { RolloutPlan } from './rollout-plan.ts'

/** A write of a pass over a Rollout that the API server may reject for good: why the DaemonSet is patched, or what happens to the BatchRelease. */
export type RejectableChange =
  | Extract<RolloutPlan, { readonly kind: 'patchDaemonSet' }>['why']
  | Extract<RolloutPlan['kind'], 'createRelease' | 'updateRelease' | 'deleteRelease'>

/** A change that the API server rejects for its content or for a rule. */
export interface RejectedChange {
  readonly change: RejectableChange
  /** Words of the API server; of any length. */
  readonly message: string
}

/** @returns the change that a plan makes; undefined where it only writes to the Rollout */
export function changeOf(plan: RolloutPlan): RejectableChange | undefined {
  if (plan.kind === 'patchDaemonSet') return plan.why
  const { kind } = plan
  return kind === 'createRelease' || kind === 'updateRelease' || kind === 'deleteRelease' ? kind : undefined
}
