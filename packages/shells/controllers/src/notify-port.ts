import type { Notification, Receiver, Rollout } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/flight'
import type { NotifyView } from '@tranche/planner'
import type { ObjectKey } from '@tranche/kube-types'

/** What a pass over a receiver reads. */
export type NotifyReading = Pick<NotifyView, 'rollout' | 'policy'>

/** One thing to tell one receiver. */
export interface NotifyRequest {
  readonly namespace: string
  /** Name of the Rollout. */
  readonly rollout: string
  readonly notification: Notification
  readonly receiver: Receiver
}

/** What came of telling; `message` says why it was not taken, and how to mend it. */
export type NotifyResult =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly message: string; readonly retryAfterMs: number | null }

/** What the pass over receivers needs. */
export interface NotifyPort {
  /** Reads from this process's own watches; null when the Rollout is gone. */
  read(rollout: ObjectKey): NotifyReading | null
  /** Sends it, once. Throws nothing but the reason of the signal. */
  notify(request: NotifyRequest, signal: AbortSignal): Promise<NotifyResult>
  /** Changes the status. Throws WRITE_CONFLICT when a test in the patch fails or the Rollout is gone. */
  patchStatus(rollout: Rollout, patch: readonly PatchOperation[], signal: AbortSignal): Promise<void>
}
