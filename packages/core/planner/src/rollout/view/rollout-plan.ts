import type { BatchReleaseSpec, RolloutStatus } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/fence'
import type { DaemonSet } from '@tranche/kube-types'

/** A Kubernetes event with a stable reason. */
export interface PlannedEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

/** The one write of a pass over a Rollout. */
export type RolloutPlan =
  | { readonly kind: 'setFinalizer'; readonly present: boolean }
  /** Writes our annotations of the Rollout; null removes one. */
  | { readonly kind: 'setAnnotations'; readonly annotations: Readonly<Record<string, string | null>> }
  | {
      readonly kind: 'patchDaemonSet'
      readonly why: 'bind' | 'unbind' | 'revert' | 'touch'
      readonly daemonSet: DaemonSet
      readonly patch: readonly PatchOperation[]
      /** Event on the Rollout and on the DaemonSet; null for none. */
      readonly event: PlannedEvent | null
    }
  | { readonly kind: 'createRelease'; readonly spec: BatchReleaseSpec }
  | { readonly kind: 'updateRelease'; readonly spec: BatchReleaseSpec }
  | { readonly kind: 'deleteRelease' }
  /** Replaces the status, with the resourceVersion that was read: concurrent writes are never lost (G10). */
  | { readonly kind: 'writeStatus'; readonly status: RolloutStatus; readonly warning: string | null }
  | {
      readonly kind: 'wait'
      readonly for: string
      readonly recheckAfterMs: number | null
      /** Warning that the status cannot carry; recorded once. */
      readonly warning?: PlannedEvent
    }

/** @returns the plan to do nothing until an event comes, or `recheckAfterMs` have passed */
export function wait(what: string, recheckAfterMs: number | null = null): Extract<RolloutPlan, { readonly kind: 'wait' }> {
  return { kind: 'wait', for: what, recheckAfterMs }
}
