import { type Analysis, durationMs, filledLength, type SecretKey } from '@tranche/api-schema'
import { fillTemplate } from '@tranche/validation'
import { pacingOf } from './pacing.ts'

/** A question to a metric system, as it is asked over HTTP. */
export interface MetricRequest {
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT'
  /** Ours; they say nothing that anybody may not read. Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** The policy's, for the server that it names and no other. */
  readonly privateHeaders: readonly PrivateHeader[]
  readonly body?: string
  readonly timeoutMs: number
}

/** A header that a policy names: its value, or where that stands. */
export type PrivateHeader = { readonly name: string; readonly value: string } | { readonly name: string; readonly secret: SecretKey }

/** A question as long as this, in characters, is asked by POST: servers and what stands before them take no longer URLs. */
const LONGEST_URL = 2_000
/** Points of a range whose step is not said. */
const RANGE_POINTS = 60

type Values = Readonly<Record<string, string>>
type Prometheus = NonNullable<Analysis['prometheus']>
type Http = NonNullable<Analysis['http']>

/**
 * Puts the arguments in: as they are into a query and a header, percent-encoded into a URL, escaped as within a text of JSON into a body.
 *
 * @param nowMs the end of a range, and the moment of an instant query; epoch milliseconds
 * @returns null for an analysis that asks nobody, which validation refuses
 */
export function toRequest(analysis: Analysis, values: Values, nowMs: number): MetricRequest | null {
  const { prometheus, http } = analysis
  const { timeoutMs } = pacingOf(analysis)
  if (prometheus !== undefined) return prometheusRequest(prometheus, values, { nowMs, timeoutMs })
  return http === undefined ? null : httpRequest(http, values, timeoutMs)
}

/** The longest URL and header value after arguments are put in, in characters. */
const LONGEST_LINE = 16_384
/** The longest query and body after arguments are put in, in characters. */
const LONGEST_BODY = 1_048_576

/**
 * Why a request cannot be made: a text that names arguments so often that it becomes too long. To be asked before {@link toRequest}, which
 * would make that text.
 *
 * @returns the field, its length and the fix; null when the request can be made
 */
export function requestFault({ prometheus, http }: Analysis, values: Values): string | null {
  const headers = [...(prometheus?.headers ?? []), ...(http?.headers ?? [])]
  const texts = [
    { field: 'prometheus.query', text: prometheus?.query, most: LONGEST_BODY },
    { field: 'http.url', text: http?.url, most: LONGEST_LINE, encode: encodeURIComponent },
    { field: 'http.body', text: http?.body, most: LONGEST_BODY, encode: encodeInJson },
    ...headers.map(({ name, value }) => ({ field: `header ${name}`, text: value, most: LONGEST_LINE })),
  ]
  for (const { field, text, most, encode } of texts) {
    const length = text === undefined ? 0 : filledLength(text, values, encode)
    if (length > most) return `${field} has ${length} characters with its arguments put in, and ${most} are the most; name them less often`
  }
  return null
}

function encodeInJson(value: string): string {
  return JSON.stringify(value).slice(1, -1)
}

function prometheusRequest(
  { address, query, range, step, headers }: Prometheus,
  values: Values,
  { nowMs, timeoutMs }: { readonly nowMs: number; readonly timeoutMs: number },
): MetricRequest {
  const rangeMs = range === undefined ? null : durationMs(range)
  const end = seconds(nowMs)
  const form = new URLSearchParams({ query: fillTemplate(query, values) })
  if (rangeMs === null) form.set('time', end)
  else {
    form.set('start', seconds(nowMs - rangeMs))
    form.set('end', end)
    form.set('step', seconds(Math.max(1_000, step === undefined ? rangeMs / RANGE_POINTS : durationMs(step))))
  }
  form.set('timeout', `${timeoutMs}ms`)
  const api = `${address.replace(/\/+$/, '')}/api/v1/query${rangeMs === null ? '' : '_range'}`
  const common = { privateHeaders: privateHeaders(headers, values), timeoutMs }
  const url = `${api}?${form.toString()}`
  if (url.length <= LONGEST_URL) return { ...common, url, method: 'GET', headers: accepting }
  const typed = { ...accepting, 'content-type': 'application/x-www-form-urlencoded' }
  return { ...common, url: api, method: 'POST', headers: typed, body: form.toString() }
}

function httpRequest({ url, method = 'GET', headers, body }: Http, values: Values, timeoutMs: number): MetricRequest {
  return {
    url: fillTemplate(url, values, encodeURIComponent),
    method,
    headers: body === undefined ? accepting : { ...accepting, 'content-type': 'application/json' },
    privateHeaders: privateHeaders(headers, values),
    ...(body !== undefined && { body: fillTemplate(body, values, encodeInJson) }),
    timeoutMs,
  }
}

const accepting: Readonly<Record<string, string>> = { accept: 'application/json', 'accept-encoding': 'identity' }

function privateHeaders(headers: Http['headers'], values: Values): readonly PrivateHeader[] {
  return (headers ?? []).map(({ name, value, valueFrom }): PrivateHeader => {
    return valueFrom === undefined ? { name, value: fillTemplate(value ?? '', values) } : { name, secret: valueFrom }
  })
}

/** Prometheus counts in seconds, with a fraction. */
function seconds(ms: number): string {
  return String(Math.round(ms) / 1_000)
}
