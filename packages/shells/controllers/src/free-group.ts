import { withHolds } from '@tranche/fence'
import type { ObjectKey } from '@tranche/kube-types'
import { groupHolderOf, isFree, isLeaving, mayLeaveGroup } from '@tranche/planner'
import { type ReconcileResult, recheckAfter } from '@tranche/reconcile'
import type { Logger } from '@tranche/telemetry'
import type { GroupPort } from './group-port.ts'
import type { ReleasePort } from './release-port.ts'

/** Dependencies of {@link freeGroup}. */
export interface FreeGroupParts {
  readonly groups: GroupPort
  readonly cluster: Pick<ReleasePort, 'writeRecord'>
  readonly log: Logger
  readonly key: ObjectKey
  readonly signal: AbortSignal
}

/** Recheck delay (ms) while the holder may not leave yet. */
const LEAVING_RECHECK_MS = 1_000

/**
 * G13: takes the Lease from the release that it names. From the mark on, no pass that reads the Lease opens the record of that release. The
 * write of the record that follows makes each opening fail that was decided before the mark. Only then is the Lease deleted, in the version
 * that was read before that write. Each step may be repeated after a crash.
 */
export async function freeGroup(name: string, parts: FreeGroupParts): Promise<ReconcileResult> {
  const { groups, cluster, log, key, signal } = parts
  const lease = await groups.readLease(name, signal)
  const holder = groupHolderOf(lease)
  if (lease === null || isFree(lease) || holder === null) return recheckAfter(0)
  const member = await groups.readHolder(holder, signal)
  if (member !== undefined && !mayLeaveGroup(member.release, member.wanted, name)) return recheckAfter(LEAVING_RECHECK_MS)
  if (!isLeaving(lease)) {
    const isOwn = holder.namespace === key.namespace && holder.name === key.name
    // The holder has taken the mark off, because it needs the group: another release that marks it again would do so for ever.
    if (!isOwn && member?.wanted === name) return recheckAfter(LEAVING_RECHECK_MS)
    await groups.markLeaving(lease, signal)
    return recheckAfter(0)
  }
  if (member !== undefined) {
    const record = member.release.status?.flight
    // The same record with a higher seq (L17).
    if (record !== undefined && !(await cluster.writeRecord(member.release, withHolds(record, record.holds), signal)))
      return recheckAfter(LEAVING_RECHECK_MS)
  }
  await groups.deleteLease(lease, signal)
  log.info({ lease: name, batchRelease: `${holder.namespace}/${holder.name}` }, 'freed group')
  return recheckAfter(0)
}
