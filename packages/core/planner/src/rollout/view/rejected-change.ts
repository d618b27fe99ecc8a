import type { RolloutPlan } from './rollout-plan.ts'

/** A change of the DaemonSet that the API server rejects for its content or for a rule. */
export interface RejectedChange {
  readonly why: Extract<RolloutPlan, { readonly kind: 'patchDaemonSet' }>['why']
  /** Words of the API server; of any length. */
  readonly message: string
}
