import type { Clock } from '@tranche/clock'
import { isAppError } from '@tranche/errors'
import { type DaemonSet, keyText, type ObjectKey } from '@tranche/kube-types'
import type { BatchReleasePlan, RejectablePatch, ReleaseView } from '@tranche/planner'
import type { Logger } from '@tranche/telemetry'
import { fieldsOf } from './log-plans.ts'
import { isRejection, REJECTED_TEXT_EVERY_MS } from './rejected-changes.ts'
import type { ReleaseMemory } from './release-memory.ts'
import type { ReleasePort } from './release-port.ts'

interface Doing {
  readonly cluster: Pick<ReleasePort, 'patchDaemonSet'>
  readonly clock: Clock
  readonly memory: ReleaseMemory
  readonly key: ObjectKey
  readonly log: Logger
  readonly signal: AbortSignal
}

/**
 * Patches the DaemonSet of a release, and remembers the patch, or that the API server rejected it. F8: a stop that cannot be published is made
 * all the same, because only the record permits deletes.
 *
 * @throws errors of all other patches
 */
export async function patchDaemonSetOf(
  plan: BatchReleasePlan & { readonly kind: 'patchDaemonSet' },
  { daemonSet, release }: ReleaseView & { readonly daemonSet: DaemonSet },
  { cluster, clock, memory, key, log, signal }: Doing,
): Promise<void> {
  try {
    const sentMs = clock.monotonicMs()
    const stored = await cluster.patchDaemonSet(daemonSet, plan.patch, signal)
    memory.patched = { release: release.metadata.resourceVersion, daemonSet: stored.metadata.resourceVersion, sentMs }
    log.info({ ...fieldsOf(release), reason: plan.why }, 'patched DaemonSet')
    memory.pauseRefused = false
    memory.rejected = null
    if (plan.why === 'touch') memory.revisionMissingSinceMs = clock.monotonicMs()
  } catch (error) {
    if (plan.why !== 'pause' && plan.why !== 'touch') noteRejected(plan.why, error, { memory, clock })
    if (plan.why !== 'pause' || isLostRace(error)) throw error
    memory.pauseRefused = true
    log.warn({ batchRelease: keyText(key), err: error }, 'could not pause DaemonSet')
  }
}

/** Its text stays for some time, because each one is a write of the status, after which the patch is tried at once. */
function noteRejected(why: RejectablePatch, error: unknown, { memory, clock }: Pick<Doing, 'memory' | 'clock'>): void {
  const nowMs = clock.monotonicMs()
  const isSaid = memory.rejected?.why === why && nowMs - memory.rejected.sinceMs < REJECTED_TEXT_EVERY_MS
  if (isRejection(error) && !isSaid) memory.rejected = { why, message: error.message, sinceMs: nowMs }
}

/** Whether another client wrote the object first. */
export function isLostRace(error: unknown): boolean {
  return isAppError(error) && error.code === 'WRITE_CONFLICT'
}
