import { type Analysis, durationMs, filledLength, type SecretKey } from '@tranche/api-schema'
import { fillTemplate } from '@tranche/validation'
import { pacingOf } from './pacing.ts'

/** HTTP request to a metric system. */
export interface MetricRequest {
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT'
  /** Headers that Tranche sets, without secrets. Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** Headers of the policy; sent only to the server that it names. */
  readonly privateHeaders: readonly PrivateHeader[]
  readonly body?: string
  readonly timeoutMs: number
}

/** Header of a policy: its value, or a reference to a Secret. */
export type PrivateHeader = { readonly name: string; readonly value: string } | { readonly name: string; readonly secret: SecretKey }

/** Length in characters from which a query uses POST, because servers and proxies limit URLs. */
const LONGEST_URL = 2_000
/** Points of a range without a step. */
const RANGE_POINTS = 60

type Values = Readonly<Record<string, string>>
type Prometheus = NonNullable<Analysis['prometheus']>
type Http = NonNullable<Analysis['http']>

/**
 * Fills in the arguments: unchanged in a query and a header, percent-encoded in a URL, and escaped as JSON text in a body.
 *
 * @param nowMs end of a range, and time of an instant query; epoch milliseconds
 * @returns null for an analysis without a source, which validation rejects
 */
export function toRequest(analysis: Analysis, values: Values, nowMs: number): MetricRequest | null {
  const { prometheus, http } = analysis
  const { timeoutMs } = pacingOf(analysis)
  if (prometheus !== undefined) return prometheusRequest(prometheus, values, { nowMs, timeoutMs })
  return http === undefined ? null : httpRequest(http, values, timeoutMs)
}

/** Maximum characters of a URL and a header value with arguments filled in. */
const LONGEST_LINE = 16_384
/** Maximum characters of a query and a body with arguments filled in. */
const LONGEST_BODY = 1_048_576

/**
 * Why a request cannot be made: a text becomes too long with its arguments filled in. Call it before {@link toRequest}, which would
 * build that text.
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
    if (length > most)
      return `${field} has ${length} characters with its arguments filled in; the maximum is ${most}; use the arguments less often`
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

/** Time for Prometheus: seconds with a fraction. */
function seconds(ms: number): string {
  return String(Math.round(ms) / 1_000)
}
