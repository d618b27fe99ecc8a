import type { FlightRecord, Permit } from '@tranche/api-schema'
import { compareResourceVersions, newerResourceVersion, readJson } from '@tranche/kube-types'
import { permitId } from './flight-record.ts'

/** Permits in flight when a record ended; the next record of the same DaemonSet inherits them (F11). */
export interface Carried {
  /** UID of the DaemonSet. */
  readonly workloadUid: string
  /** Watermark of the record that ended (F2). */
  readonly watermark: string
  /** Executed and unsettled permits: one per node, at most as many as a record may have in force. */
  readonly permits: readonly Permit[]
}

/** Maximum length of {@link carriedText}, in characters: 1,000 permits with node names of up to 63; half of what annotations may hold. */
export const MAX_CARRIED_LENGTH = 131_072

/**
 * What a stopped record leaves unsettled: the last permit of each node, in the order of the record (F4). Null where everything
 * has settled. See L22.
 */
export function carryOver({ workloadUid, watermark, permits }: FlightRecord): Carried | null {
  const lastOfNode = permits.filter(({ node }, at) => !permits.slice(at + 1).some((later) => later.node === node))
  return lastOfNode.length === 0 ? null : { workloadUid, watermark, permits: lastOfNode }
}

/** @returns the text that {@link parseCarried} reads back; null where it would exceed {@link MAX_CARRIED_LENGTH} */
export function carriedText({ workloadUid, watermark, permits }: Carried): string | null {
  const list = permits.map(({ node, podUid, podResourceVersion, wasBad }) => [
    node,
    podUid,
    podResourceVersion,
    ...(wasBad === true ? ['bad'] : []),
  ])
  const text = JSON.stringify({ workload: workloadUid, watermark, permits: list })
  return text.length > MAX_CARRIED_LENGTH ? null : text
}

/** @returns the carried permits; null for a text that {@link carriedText} did not write */
export function parseCarried(text: string): Carried | null {
  try {
    const { workload, watermark, permits } = readJson(text) as Record<string, unknown>
    if (typeof workload !== 'string' || typeof watermark !== 'string' || !/^\d+$/.test(watermark) || !Array.isArray(permits)) return null
    // F2: a watermark rests on every permit (L2).
    const isSeen = ({ podResourceVersion }: Permit): boolean => compareResourceVersions(podResourceVersion, watermark) <= 0
    return { workloadUid: workload, watermark, permits: permits.flatMap(toPermit).filter(isSeen) }
  } catch {
    return null
  }
}

function toPermit(entry: unknown): Permit[] {
  if (!Array.isArray(entry) || entry.length < 3 || entry.length > 4 || entry.some((member) => typeof member !== 'string')) return []
  const [node, podUid, podResourceVersion, bad] = entry as [string, string, string, string?]
  return /^\d+$/.test(podResourceVersion) ? [{ node, podUid, podResourceVersion, ...(bad === 'bad' && { wasBad: true }) }] : []
}

/**
 * F11: puts carried permits in front of a record that is not open, so that G2 holds across both; null where the record has
 * them already. An outdated text can only make the count too high. See L22.
 */
export function inheritPermits(record: FlightRecord, carried: Omit<Carried, 'workloadUid'>): FlightRecord | null {
  const known = new Set(record.permits.map(permitId))
  const missing = carried.permits.filter((permit) => !known.has(permitId(permit)))
  if (missing.length === 0) return null
  return {
    ...record,
    seq: record.seq + 1,
    watermark: newerResourceVersion(record.watermark, carried.watermark),
    permits: [...missing, ...record.permits],
  }
}
