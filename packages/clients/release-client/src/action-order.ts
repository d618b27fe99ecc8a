import type { RecordedAction, ActionBody, ActionType } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import type { KubeClient } from '@tranche/kube-client'
import type { ObjectKey } from '@tranche/kube-types'
import type { Logger, TraceContext } from '@tranche/telemetry'
import type { SeenMember, ActionTarget } from '@tranche/actions'

/** Action as requested, and its object. */
export interface ActionOrder {
  /** Kind that `key` names. A DaemonSet, with or without a Rollout, supports only `undo` and `restart`. */
  readonly on: ActionTarget
  readonly key: ObjectKey
  readonly type: ActionType
  readonly body: ActionBody
  /** User name as the API server knows it. */
  readonly by: string
  readonly via: RecordedAction['via']
  /** Client address of the request. */
  readonly from?: string | undefined
  /** The same key by the same user is the same action: it is carried out once while it is among the last sixteen on the record. */
  readonly idempotencyKey?: string | undefined
  /** @see Action.seen */
  readonly seen?: readonly SeenMember[] | undefined
  /** @see Action.repeatableSinceMs */
  readonly repeatableSinceMs?: number | undefined
  /** @see Action.trace */
  readonly trace?: TraceContext | undefined
  /** How long to wait for the controller's answer, in milliseconds; 0: no wait. */
  readonly waitMs: number
  /** Reports what would be written, and writes nothing. @default false */
  readonly dryRun?: boolean
}

/** Dependencies of `carryOut`. */
export interface ReleaseClientPorts {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
  /** Writing component: `tranche-api` or `tranche-cli`. */
  readonly component: string
}
