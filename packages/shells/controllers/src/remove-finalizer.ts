import type { BatchRelease } from '@tranche/api-schema'
import type { ObjectKey } from '@tranche/kube-types'
import { planBatchRelease, type ReleaseView } from '@tranche/planner'
import { awaitChange, type ReconcileResult, recheckAfter } from '@tranche/reconcile'
import { UNCLEAR_RECHECK_MS } from './confirm-record.ts'
import type { ReleaseMemory } from './release-memory.ts'
import type { ReleasePort, ReleaseReading } from './release-port.ts'

/** What the removal of a finalizer needs. */
interface Removing {
  readonly cluster: Pick<ReleasePort, 'readLive' | 'setFinalizer'>
  readonly key: ObjectKey
  readonly signal: AbortSignal
  readonly toView: (reading: ReleaseReading) => ReleaseView
  readonly memory: Pick<ReleaseMemory, 'finalizerRemovedFrom'>
}

/**
 * F11: caches cannot distinguish a DaemonSet that is gone from one not seen yet, so the end of a release is decided on a live read of it. The
 * BatchRelease was read before: the write tests its version, from which no second write can succeed.
 */
export async function removeFinalizer(release: BatchRelease, { cluster, key, signal, toView, memory }: Removing): Promise<ReconcileResult> {
  const version = release.metadata.resourceVersion
  if (memory.finalizerRemovedFrom === version) return awaitChange
  const live = await cluster.readLive(key, signal, { release, daemonSet: undefined, withoutRollout: true })
  const plan = live === null ? null : planBatchRelease(toView(live))
  if (live === null || plan?.kind !== 'setFinalizer' || plan.present) return recheckAfter(UNCLEAR_RECHECK_MS)
  await cluster.setFinalizer(live.release, false, signal)
  memory.finalizerRemovedFrom = version
  return awaitChange
}
