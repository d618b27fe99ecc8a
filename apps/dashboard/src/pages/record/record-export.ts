import type { RecordEntry } from './record-entry.ts'

const columns = ['at', 'namespace', 'rollout', 'kind', 'type', 'what', 'who', 'why', 'result', 'detail', 'id'] as const

/** What an export covers: a record that was read in part must not look whole. */
export interface RecordScope {
  /** RFC 3339. */
  readonly exportedAt: string
  /** Query of the filter. */
  readonly filter: Readonly<Record<string, string>>
  readonly rolloutsRead: number
  /** Rollouts that were not read yet, or could not be read. */
  readonly rolloutsNotRead: number
}

/** Entries as JSON, unchanged. */
export function jsonOf(entries: readonly RecordEntry[], scope: RecordScope): string {
  return `${JSON.stringify({ ...scope, entries }, null, 2)}\n`
}

/** Marks the text as UTF-8 for spreadsheets. */
const BYTE_ORDER_MARK = '\u{feff}'

/** Entries as CSV (RFC 4180) in UTF-8. A spreadsheet takes no text of an entry for a formula. */
export function csvOf(entries: readonly RecordEntry[]): string {
  const lines = [columns.join(','), ...entries.map((entry) => columns.map((column) => cellOf(entry[column])).join(','))]
  return `${BYTE_ORDER_MARK}${lines.join('\r\n')}\r\n`
}

/** First character of a formula, in ASCII and in full width. */
const FORMULA = '[=+\\-@\\uFF1D\\uFF0B\\uFF0D\\uFF20]'
/** Characters that a spreadsheet skips before a formula: spaces, quotes and characters without a shape. */
const SKIPPED = '[\\s"\\p{Cf}\\p{Cc}]*'
/**
 * Where a cell may begin: at the start, and after whatever some spreadsheet takes for the end of a cell. Semicolons and tabs separate
 * cells where the comma is the decimal separator.
 */
const formulaPattern = new RegExp(`(?=${FORMULA})(?<=(?:^|[;\\t\\r\\n])${SKIPPED})`, 'gu')

/** Quotes every text, and puts an apostrophe before what a spreadsheet would run as a formula. */
function cellOf(text: string): string {
  return `"${text.replace(formulaPattern, "'").replaceAll('"', '""')}"`
}

/** @param nowMs epoch milliseconds. @returns a file name such as `tranche-record-2026-11-26-0314.csv` */
export function fileNameOf(nowMs: number, extension: 'csv' | 'json'): string {
  const at = new Date(nowMs).toISOString()
  return `tranche-record-${at.slice(0, 10)}-${at.slice(11, 16).replace(':', '')}.${extension}`
}
