import type { WireRequest, WireResponse } from '@tranche/wire'
import type { ApiStatusError } from '../status-error.ts'

/** @returns an answer with this JSON text as its body */
export function jsonAnswer(status: number, text: string, warnings: readonly string[] = []): WireResponse {
  return wholeAnswer(status, text, { 'content-type': 'application/json', ...warningHeader(warnings) })
}

/** @returns a document in JSON unless `headers` say otherwise; 304 for a client that has the one with this `etag` */
export function documentAnswer(wire: WireRequest, text: string, headers: Readonly<Record<string, string>>): WireResponse {
  const { etag } = headers
  const isKnown = etag !== undefined && wire.headers['if-none-match'] === etag
  return isKnown
    ? { ...wholeAnswer(304, '', headers), status: 304 }
    : wholeAnswer(200, text, { 'content-type': 'application/json', ...headers })
}

/** @returns an answer that leads to another address */
export function redirectAnswer(location: string): WireResponse {
  return wholeAnswer(301, '', { location, vary: 'Accept' })
}

/** @returns an answer in plain text, as health checks and unknown paths get it */
export function textAnswer(status: number, text: string): WireResponse {
  return wholeAnswer(status, text, { 'content-type': 'text/plain; charset=utf-8' })
}

/** @returns the Status of a refused request, with `retry-after` where the Status asks for it */
export function statusAnswer(error: ApiStatusError): WireResponse {
  const answer = jsonAnswer(error.code, `${JSON.stringify(error.status)}\n`)
  const retryAfter = error.status.details?.retryAfterSeconds
  return retryAfter === undefined ? answer : { ...answer, headers: { ...answer.headers, 'retry-after': String(retryAfter) } }
}

/** Headers of every answer. */
export const commonHeaders: Readonly<Record<string, string>> = { 'cache-control': 'no-cache, private' }

/** Characters of all warnings of an answer; where there are more, each is cut short, and the last ones are left out. */
const LONGEST_WARNINGS = 4096
const LONGEST_CUT_WARNING = 256

function withinLimit(warnings: readonly string[]): readonly string[] {
  const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0)
  if (lengthOf(warnings) <= LONGEST_WARNINGS) return warnings
  const cut = warnings.slice(0, LONGEST_WARNINGS).map((text) => text.slice(0, LONGEST_CUT_WARNING))
  return cut.filter((_text, index) => lengthOf(cut.slice(0, index + 1)) <= LONGEST_WARNINGS)
}

/** All warnings stand in one header, as `kubectl` reads them; absent without any. What is not ASCII shows as `?`. */
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
