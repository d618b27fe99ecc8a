import type { RecordedAction, ActionBody, ActionType } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import type { KubeClient } from '@tranche/kube-client'
import type { ObjectKey } from '@tranche/kube-types'
import type { Logger } from '@tranche/log'
import type { TraceContext } from '@tranche/tracing'
import type { SeenMember, ActionTarget } from '@tranche/actions'

/** An action as requested, and its object. */
export interface ActionOrder {
  /** What `key` names. Of a DaemonSet, with a Rollout or without, only `undo` and `restart` can be asked. */
  readonly on: ActionTarget
  readonly key: ObjectKey
  readonly type: ActionType
  readonly body: ActionBody
  /** User as the API server knows them. */
  readonly by: string
  readonly via: RecordedAction['via']
  /** Address that the request came from. */
  readonly from?: string | undefined
  /** The same key by the same user is the same action: it is carried out once while it is among the last sixteen on the record. */
  readonly idempotencyKey?: string | undefined
  /** @see Action.seen */
  readonly seen?: readonly SeenMember[] | undefined
  /** @see Action.repeatableSinceMs */
  readonly repeatableSinceMs?: number | undefined
  /** @see Action.trace */
  readonly trace?: TraceContext | undefined
  /** How long to wait for the controller's answer, in milliseconds; 0: not at all. */
  readonly waitMs: number
  /** Says what would be written, and writes nothing. @default false */
  readonly dryRun?: boolean
}

/** What `carryOut` needs to carry out an action. */
export interface ReleaseClientPorts {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
  /** Who writes: `tranche-api` or `tranche-cli`. */
  readonly component: string
}
