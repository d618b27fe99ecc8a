import type { RecordedAction, WishBody, WishType } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import type { KubeClient } from '@tranche/kube-client'
import type { ObjectKey } from '@tranche/kube-types'
import type { Logger } from '@tranche/log'
import type { TraceContext } from '@tranche/tracing'
import type { SeenMember, WishTarget } from '@tranche/wishes'

/** A wish as somebody gives it, and what it is for. */
export interface WishOrder {
  /** What `key` names. Of a DaemonSet, with a Rollout or without, only `undo` and `restart` can be asked. */
  readonly on: WishTarget
  readonly key: ObjectKey
  readonly type: WishType
  readonly body: WishBody
  /** User as the API server knows them. */
  readonly by: string
  readonly via: RecordedAction['via']
  /** Address that the request came from. */
  readonly from?: string | undefined
  /** The same key by the same user is the same wish: it is carried out once, while it stands among the last sixteen on the record. */
  readonly idempotencyKey?: string | undefined
  /** @see Wish.seen */
  readonly seen?: readonly SeenMember[] | undefined
  /** @see Wish.repeatableSinceMs */
  readonly repeatableSinceMs?: number | undefined
  /** @see Wish.trace */
  readonly trace?: TraceContext | undefined
  /** How long to wait for the controller's answer, in milliseconds; 0: not at all. */
  readonly waitMs: number
  /** Says what would be written, and writes nothing. @default false */
  readonly dryRun?: boolean
}

/** What wishes are carried out with. */
export interface SteeringPorts {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
  /** Who writes: `tranche-api` or `tranche-cli`. */
  readonly component: string
}
