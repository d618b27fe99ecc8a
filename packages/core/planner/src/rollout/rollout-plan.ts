import type { BatchReleaseSpec, RolloutStatus } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/flight'
import type { DaemonSet } from '@tranche/kube-types'

/** An event; the reason is stable. */
export interface PlannedEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

/** The one write that a pass over a Rollout should make. */
export type RolloutPlan =
  | { readonly kind: 'setFinalizer'; readonly present: boolean }
  /** Writes annotations of the Rollout that are ours; null takes one away. */
  | { readonly kind: 'setAnnotations'; readonly annotations: Readonly<Record<string, string | null>> }
  | {
      readonly kind: 'patchDaemonSet'
      readonly why: 'bind' | 'unbind' | 'revert' | 'touch'
      readonly daemonSet: DaemonSet
      readonly patch: readonly PatchOperation[]
      /** What is said of it on the Rollout and on the DaemonSet; null where nothing is worth an event. */
      readonly event: PlannedEvent | null
    }
  | { readonly kind: 'createRelease'; readonly spec: BatchReleaseSpec }
  | { readonly kind: 'updateRelease'; readonly spec: BatchReleaseSpec }
  | { readonly kind: 'deleteRelease' }
  /** Replaces the status, with the resourceVersion that was read: what somebody wrote in between is never lost (G10). */
  | { readonly kind: 'writeStatus'; readonly status: RolloutStatus; readonly warning: string | null }
  | {
      readonly kind: 'wait'
      readonly for: string
      readonly recheckAfterMs: number | null
      /** What the status cannot say: recorded once. */
      readonly warning?: PlannedEvent
    }

/** @returns the plan to do nothing until an event comes, or `recheckAfterMs` have passed */
export function wait(what: string, recheckAfterMs: number | null = null): Extract<RolloutPlan, { readonly kind: 'wait' }> {
  return { kind: 'wait', for: what, recheckAfterMs }
}
