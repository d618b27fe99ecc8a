import type { Notification, Receiver, Rollout } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/fence'
import type { NotifyView } from '@tranche/planner'
import type { ObjectKey } from '@tranche/kube-types'

/** Input of a pass over a receiver. */
export type NotifyReading = Pick<NotifyView, 'rollout' | 'policy'>

/** One notification for one receiver. */
export interface NotifyRequest {
  readonly namespace: string
  /** Name of the Rollout. */
  readonly rollout: string
  readonly notification: Notification
  readonly receiver: Receiver
}

/** Result of a send; `message` says why it was refused, and how to fix it. */
export type NotifyResult =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly message: string; readonly retryAfterMs: number | null }

/** Dependencies of the pass over receivers. */
export interface NotifyPort {
  /** Reads from this process's watches; null if the Rollout is gone. */
  read(rollout: ObjectKey): NotifyReading | null
  /** Sends the notification once. Throws only the signal's reason. */
  notify(request: NotifyRequest, signal: AbortSignal): Promise<NotifyResult>
  /** Patches the status. Throws WRITE_CONFLICT if a test in the patch fails or the Rollout is gone. */
  patchStatus(rollout: Rollout, patch: readonly PatchOperation[], signal: AbortSignal): Promise<void>
}
