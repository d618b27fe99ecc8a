import type { ReleasePolicy } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import type { PatchOperation } from '@tranche/flight'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import type { Logger } from '@tranche/log'
import { planPolicyStatus, type PolicyView } from '@tranche/planner'
import { awaitChange, type Reconcile, recheckAfter } from '@tranche/reconcile'

/** What a pass over a ReleasePolicy reads. */
export type PolicyViewReading = Omit<PolicyView, 'nowMs'>

/** What the ReleasePolicy reconciler needs from the cluster. Writes that lose a race throw WRITE_CONFLICT. */
export interface PolicyPort {
  /** Reads from this process's own watches; null when the policy is gone. */
  read(key: ObjectKey): PolicyViewReading | null
  patchStatus(policy: ReleasePolicy, patch: readonly PatchOperation[], signal: AbortSignal): Promise<void>
}

/** What the ReleasePolicy reconciler is made of. */
export interface PolicyParts {
  readonly cluster: PolicyPort
  readonly clock: Clock
  readonly log: Logger
}

/** Says of one ReleasePolicy whether it is valid, and who uses it. Releases go by its spec, never by what is said here. */
export function createPolicyPass({ cluster, clock, log }: PolicyParts): Reconcile {
  return async function passOverPolicy(key, signal) {
    const reading = cluster.read(key)
    if (reading === null) return awaitChange
    const patch = planPolicyStatus({ ...reading, nowMs: clock.nowMs() })
    if (patch === null) return awaitChange
    log.info({ releasePolicy: keyText(key), plan: 'writeStatus' }, 'planned release policy')
    await cluster.patchStatus(reading.policy, patch, signal)
    return recheckAfter(0)
  }
}
