import type { WireRequest, WireResponse } from '@tranche/wire'
import type { ApiStatusError } from '../../model/status-error.ts'

/** @returns response with this JSON text as its body */
export function jsonAnswer(status: number, text: string, warnings: readonly string[] = []): WireResponse {
  return wholeAnswer(status, text, { 'content-type': 'application/json', ...warningHeader(warnings) })
}

/** @returns document, as JSON unless `headers` say otherwise; 304 when the client has the one with this `etag` */
export function documentAnswer(wire: WireRequest, text: string, headers: Readonly<Record<string, string>>): WireResponse {
  const { etag } = headers
  const isKnown = etag !== undefined && wire.headers['if-none-match'] === etag
  return isKnown
    ? { ...wholeAnswer(304, '', headers), status: 304 }
    : wholeAnswer(200, text, { 'content-type': 'application/json', ...headers })
}

/** @returns redirect */
export function redirectAnswer(location: string): WireResponse {
  return wholeAnswer(301, '', { location, vary: 'Accept' })
}

/** @returns plain-text response, for health checks and unknown paths */
export function textAnswer(status: number, text: string): WireResponse {
  return wholeAnswer(status, text, { 'content-type': 'text/plain; charset=utf-8' })
}

/** @returns Status of a rejected request, with `retry-after` when the Status has it */
export function statusAnswer(error: ApiStatusError): WireResponse {
  const answer = jsonAnswer(error.code, `${JSON.stringify(error.status)}\n`)
  const retryAfter = error.status.details?.retryAfterSeconds
  return retryAfter === undefined ? answer : { ...answer, headers: { ...answer.headers, 'retry-after': String(retryAfter) } }
}

/** Headers of every response. */
export const commonHeaders: Readonly<Record<string, string>> = { 'cache-control': 'no-cache, private' }

/** Maximum number of characters of all warnings. Beyond it, each warning is truncated, and the last ones are dropped. */
const LONGEST_WARNINGS = 4096
const LONGEST_CUT_WARNING = 256

function withinLimit(warnings: readonly string[]): readonly string[] {
  const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0)
  if (lengthOf(warnings) <= LONGEST_WARNINGS) return warnings
  const cut = warnings.slice(0, LONGEST_WARNINGS).map((text) => text.slice(0, LONGEST_CUT_WARNING))
  return cut.filter((_text, index) => lengthOf(cut.slice(0, index + 1)) <= LONGEST_WARNINGS)
}

/** Joins all warnings in one header, as `kubectl` parses them; absent without warnings. Non-ASCII characters become `?`. */
function warningHeader(warnings: readonly string[]): Readonly<Record<string, string>> {
  if (warnings.length === 0) return {}
  const quoted = withinLimit(warnings).map((text) => text.replace(/[^ -~]/g, '?').replace(/["\\]/g, '\\$&'))
  return { warning: quoted.map((text) => `299 - "${text}"`).join(', ') }
}

function wholeAnswer(status: number, text: string, headers: Readonly<Record<string, string>>): WireResponse {
  return { status, headers: { ...commonHeaders, ...headers, 'content-length': String(Buffer.byteLength(text)) }, body: oneChunk(text) }
}

async function* oneChunk(text: string): AsyncGenerator<string, void> {
  yield text
}
