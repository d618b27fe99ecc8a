import { type Analysis, durationMs, type SecretKey } from '@tranche/api-schema'
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
    ...(body !== undefined && { body: fillTemplate(body, values, (value) => JSON.stringify(value).slice(1, -1)) }),
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
