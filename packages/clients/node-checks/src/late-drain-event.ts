import type { EventReason } from '@tranche/api-schema'
import { rolloutOf } from '@tranche/kube-types'
import type { CheckTarget } from './check.ts'

/** Records events. */
export interface DrainEvents {
  record(regarding: Regarded, type: 'Normal' | 'Warning', reason: EventReason, message: string): void
}

interface Regarded {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace: string
  readonly uid: string
}

/** Records on the DaemonSet, and on the Rollout of its release, that a node is updated which is not drained. */
export function recordLateDrain({ daemonSet, release }: CheckTarget, message: string, events: DrainEvents): void {
  const { namespace = '', name, uid } = daemonSet.metadata
  events.record({ apiVersion: 'apps/v1', kind: 'DaemonSet', name, namespace, uid }, 'Warning', 'DrainTimedOut', message)
  const rollout = rolloutOf(release)
  if (rollout === undefined) return
  const { apiVersion, kind } = rollout
  events.record({ apiVersion, kind, name: rollout.name, namespace, uid: rollout.uid }, 'Warning', 'DrainTimedOut', message)
}
