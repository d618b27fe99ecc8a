import type { BatchRelease, FlightRecord } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/fence'
import type { Logger } from '@tranche/telemetry'
import type { RecordWriteReason } from '@tranche/planner'
import { type ReconcileResult, recheckAfter } from '@tranche/reconcile'
import { logRecord } from './log-plans.ts'
import type { ReleasePort } from './release-port.ts'

/** Recheck delay in milliseconds if the watch is slow to show the record of another process. */
const OVERTAKEN_RECHECK_MS = 1_000

/** Writes the permit record, unless another process has written it since it was read, and logs what it allows. */
export async function writeReleaseRecord(
  release: BatchRelease,
  record: FlightRecord,
  reason: RecordWriteReason | 'create' | 'touch',
  doing: RecordWriter,
): Promise<ReconcileResult> {
  return outcomeOfRecord(await writeAndLog(release, record, reason, doing))
}

/** What a write of the record needs. */
export interface RecordWriter {
  readonly cluster: Pick<ReleasePort, 'writeRecord'>
  readonly signal: AbortSignal
  readonly log: Logger
}

/** @returns whether the record was written. @see ReleasePort.writeRecord */
export async function writeAndLog(
  release: BatchRelease,
  record: FlightRecord,
  reason: RecordWriteReason | 'create' | 'touch',
  { cluster, signal, log }: RecordWriter,
  exact?: readonly PatchOperation[],
): Promise<boolean> {
  const written = await cluster.writeRecord(release, record, signal, exact)
  if (written) logRecord(release, record, reason, log)
  return written
}

/** @returns when the next pass comes: at once after this process's own write, because its result is known */
export function outcomeOfRecord(written: boolean): ReconcileResult {
  return recheckAfter(written ? 0 : OVERTAKEN_RECHECK_MS)
}
