import type { FlightRecord } from '@tranche/api-schema'
import { isSameDecision } from '@tranche/fence'
import { type DaemonSet, keyText, newerResourceVersion, type ObjectKey } from '@tranche/kube-types'
import {
  type BatchReleasePlan,
  type BatchReleaseStatusPatch,
  planBatchRelease,
  type ReleaseView,
  statusChanges,
  statusWithRecord,
} from '@tranche/planner'
import { awaitChange, type ReconcileResult, recheckAfter } from '@tranche/reconcile'
import type { ReleaseMemory } from './release-memory.ts'
import type { LiveReading, ReleasePort, ReleaseReading } from './release-port.ts'
import { outcomeOfRecord, type RecordWriter, writeAndLog, writeReleaseRecord } from './write-record.ts'

/** Recheck delay in milliseconds where live reads or responses gave no clear answer. */
export const UNCLEAR_RECHECK_MS = 500

/**
 * Time in milliseconds for which the response to a patch counts as a live read: about as long as a read may take. A process that was frozen, or
 * whose watches are stalled, would otherwise decide by a DaemonSet of any age. A user may have changed it since, and executors whose watches
 * are stalled as well would agree with the record.
 */
const PATCHED_CURRENT_MS = 5_000

/** What a confirmed write of the record needs. */
interface Confirming extends RecordWriter {
  readonly cluster: Pick<ReleasePort, 'readLive' | 'writeRecord'>
  readonly key: ObjectKey
  readonly toView: (reading: ReleaseReading) => ReleaseView
  readonly memory: Pick<ReleaseMemory, 'patched'>
  /** Called with a status that was written with the record. */
  readonly noteStatus: (status: BatchReleaseStatusPatch) => void
}

/**
 * F9: decides again on live reads, the record first, before allowing more, and writes only if the plan is still the same. The BatchRelease
 * of the watch was read before, too: with its version as precondition of the write, it counts as read live. It is read after a lost race.
 */
export async function confirmAndWrite(plan: RecordPlan, view: ReleaseView, doing: Confirming): Promise<ReconcileResult> {
  const known = await doing.cluster.readLive(doing.key, doing.signal, { release: view.release, daemonSet: patchedSince(view, doing) })
  if (known === null) return awaitChange
  const confirmed = confirmedBy(known, plan, doing)
  if (confirmed === null) return recheckAfter(UNCLEAR_RECHECK_MS)
  if (await writeWithStatus(confirmed, doing)) return outcomeOfRecord(true)
  const live = await doing.cluster.readLive(doing.key, doing.signal)
  if (live === null) return awaitChange
  const decided = confirmedBy(live, plan, doing)
  return decided === null ? recheckAfter(UNCLEAR_RECHECK_MS) : writeReleaseRecord(decided.view.release, decided.record, decided.why, doing)
}

type RecordPlan = BatchReleasePlan & { readonly kind: 'writeRecord' }

/** A write of the record, and the view that it was decided from. */
interface Confirmed {
  readonly view: ReleaseView
  readonly record: FlightRecord
  readonly why: RecordPlan['why']
}

/**
 * Pods that had to be touched first have been by now: a live plan that asks for touches again stands for what comes next.
 *
 * @returns null where the plan is no longer the same
 */
function confirmedBy(live: LiveReading, plan: RecordPlan, { toView, log, key }: Confirming): Confirmed | null {
  if (live.stopAsked) return null
  const view = toView(live)
  const confirmed = planBatchRelease(view)
  const write = confirmed.kind === 'touchOldPods' ? confirmed.next : confirmed
  if (write.kind !== 'writeRecord' || !isSameDecision(write.record, plan.record)) {
    log.debug({ batchRelease: keyText(key), plan: confirmed.kind }, 'live reads changed the plan')
    return null
  }
  const record = { ...write.record, watermark: newerResourceVersion(write.record.watermark, plan.record.watermark) }
  return { view, record, why: write.why }
}

/**
 * The DaemonSet as this process stored it a moment ago, after it had read this version of the BatchRelease; undefined where another version is
 * known.
 */
function patchedSince({ release, daemonSet, monotonicMs }: ReleaseView, { memory: { patched } }: Confirming): DaemonSet | undefined {
  const isSame = patched?.release === release.metadata.resourceVersion && patched.daemonSet === daemonSet?.metadata.resourceVersion
  return isSame && monotonicMs - patched.sentMs < PATCHED_CURRENT_MS ? daemonSet : undefined
}

/** The record and the status that it makes true, in one write. */
async function writeWithStatus({ view, record, why }: Confirmed, doing: Confirming): Promise<boolean> {
  const status = statusWithRecord(view, record)
  const written = await writeAndLog(view.release, record, why, doing, status === null ? [] : statusChanges(view.release, status))
  if (written && status !== null) doing.noteStatus(status)
  return written
}
