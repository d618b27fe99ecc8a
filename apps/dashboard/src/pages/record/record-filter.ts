import { actionTypes, observedChangeTypes } from '@tranche/api-schema'
import type { RecordEntry } from './record-entry.ts'

/** Spans of time up to now. */
export const recordSpans = ['any', '1h', '24h', '7d', 'between'] as const
/** @see recordSpans */
export type RecordSpan = (typeof recordSpans)[number]

/** Types of entries that can be chosen. */
export const recordTypes: readonly string[] = [...new Set<string>(['release', ...actionTypes, ...observedChangeTypes])]

/** What the record shows: kept in the URL. */
export interface RecordFilter {
  /** `NAMESPACE/NAME`, or text in it; empty: every Rollout. */
  readonly rollout: string
  /** Text in the name of the user or program. */
  readonly user: string
  /** One of {@link recordTypes}; empty: all. */
  readonly type: string
  readonly span: RecordSpan
  /** RFC 3339; only for the span `between`, empty: no bound. */
  readonly from: string
  readonly to: string
}

/** @returns the filter of a URL; unknown values count as absent */
export function recordFilterOf(query: Readonly<Record<string, string>>): RecordFilter {
  const [from, to] = [momentOf(query['from']), momentOf(query['to'])]
  const span = recordSpans.find((one) => one === query['since'])
  return {
    rollout: query['rollout'] ?? '',
    user: query['user'] ?? '',
    type: recordTypes.find((type) => type === query['action']) ?? '',
    span: from !== '' || to !== '' ? 'between' : (span ?? 'any'),
    from,
    to,
  }
}

function momentOf(text: string | undefined): string {
  const ms = Date.parse(text ?? '')
  return Number.isNaN(ms) ? '' : new Date(ms).toISOString()
}

/** @returns the query of a filter; defaults are left out */
export function recordQueryOf({ rollout, user, type, span, from, to }: RecordFilter): Readonly<Record<string, string>> {
  return {
    ...(rollout !== '' && { rollout }),
    ...(user !== '' && { user }),
    ...(type !== '' && { action: type }),
    ...(span !== 'any' && (span !== 'between' || (from === '' && to === '')) && { since: span }),
    ...(span === 'between' && from !== '' && { from }),
    ...(span === 'between' && to !== '' && { to }),
  }
}

const HOUR_MS = 3_600_000
const spanMs: Readonly<Partial<Record<RecordSpan, number>>> = { '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 168 * HOUR_MS }

/** @param nowMs end of the spans, in epoch milliseconds. @returns the entries of a filter, newest first */
export function filterRecord(entries: readonly RecordEntry[], filter: RecordFilter, nowMs: number): readonly RecordEntry[] {
  const [fromMs, toMs] = boundsOf(filter, nowMs)
  const user = filter.user.toLowerCase()
  const isShown = ({ at, who, type }: RecordEntry): boolean => {
    const atMs = Date.parse(at)
    return atMs >= fromMs && atMs <= toMs && (filter.type === '' || filter.type === type) && who.toLowerCase().includes(user)
  }
  return entries.filter(isShown).sort((a, b) => Date.parse(b.at) - Date.parse(a.at) || (a.id < b.id ? -1 : 1))
}

function boundsOf({ span, from, to }: RecordFilter, nowMs: number): readonly [number, number] {
  const length = spanMs[span]
  if (length !== undefined) return [nowMs - length, Number.POSITIVE_INFINITY]
  const isBounded = span === 'between'
  return [
    isBounded && from !== '' ? Date.parse(from) : Number.NEGATIVE_INFINITY,
    isBounded && to !== '' ? Date.parse(to) : Number.POSITIVE_INFINITY,
  ]
}

/** @param at RFC 3339 or empty. @returns the value of a field for date and time, in the zone of the browser */
export function fieldValueOf(at: string): string {
  const ms = Date.parse(at)
  if (Number.isNaN(ms)) return ''
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}

/** @param value of a field for date and time. @returns the moment in RFC 3339; empty if it is none */
export function momentOfField(value: string): string {
  return momentOf(value)
}
