import { valueIn } from '@tranche/kube-types'
/** Result of a Prometheus query: the samples, or the error. */
export type Samples = { readonly ok: true; readonly samples: readonly number[] } | { readonly ok: false; readonly message: string }

/**
 * Reads a response of `/api/v1/query` or `/api/v1/query_range`. A scalar gives one number, and a vector one for each series. A range gives
 * the numbers of all series, oldest first in each series.
 *
 * @see https://prometheus.io/docs/prometheus/latest/querying/api/
 */
export function prometheusSamples(answer: unknown): Samples {
  if (!isRecord(answer) || (answer['status'] !== 'success' && answer['status'] !== 'error'))
    return noAnswer('status is neither success nor error')
  if (answer['status'] === 'error') return { ok: false, message: `Prometheus rejected the query: ${textOf(answer['error'])}` }
  const { data } = answer
  if (!isRecord(data)) return noAnswer('data is missing')
  const points = pointsOf(data['resultType'], data['result'])
  if (points === null) return noAnswer(`resultType is ${textOf(data['resultType'])}, not scalar, vector or matrix with values`)
  const samples = points.map(sampleOf)
  return samples.includes(null) ? noAnswer('a sample is not a number') : { ok: true, samples: samples.filter((sample) => sample !== null) }
}

function pointsOf(type: unknown, result: unknown): readonly unknown[] | null {
  if (type === 'scalar') return [result]
  if (!Array.isArray(result) || !result.every(isRecord)) return null
  if (type === 'vector') return result.map(({ value }) => value)
  if (type !== 'matrix' || !result.every(({ values }) => Array.isArray(values))) return null
  return result.flatMap(({ values }) => values as readonly unknown[])
}

/** Parses a point such as `[1435781451.781, "0.5"]`: the time, and the value as text. */
function sampleOf(point: unknown): number | null {
  const text: unknown = Array.isArray(point) ? point[1] : undefined
  if (typeof text !== 'string') return null
  const special = valueIn(specialNumbers, text)
  if (special !== undefined) return special
  return text.trim() === '' || Number.isNaN(Number(text)) ? null : Number(text)
}

const specialNumbers: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  '+Inf': Number.POSITIVE_INFINITY,
  Inf: Number.POSITIVE_INFINITY,
  '-Inf': Number.NEGATIVE_INFINITY,
}

function noAnswer(why: string): Samples {
  return { ok: false, message: `the response is not from Prometheus: ${why}` }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : 'missing'
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
