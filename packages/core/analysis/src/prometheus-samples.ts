/** What a server of Prometheus answered: numbers, or why there are none. */
export type Samples = { readonly ok: true; readonly samples: readonly number[] } | { readonly ok: false; readonly message: string }

/**
 * Reads an answer of `/api/v1/query` or `/api/v1/query_range`: one number for a scalar, one for each series of a vector, and
 * the numbers of all series of a range, oldest first within each.
 *
 * @see https://prometheus.io/docs/prometheus/latest/querying/api/
 */
export function prometheusSamples(answer: unknown): Samples {
  if (!isRecord(answer) || (answer['status'] !== 'success' && answer['status'] !== 'error'))
    return noAnswer('it lacks status success or error')
  if (answer['status'] === 'error') return { ok: false, message: `Prometheus refuses the query: ${textOf(answer['error'])}` }
  const { data } = answer
  if (!isRecord(data)) return noAnswer('it lacks data')
  const points = pointsOf(data['resultType'], data['result'])
  if (points === null) return noAnswer(`its resultType is ${textOf(data['resultType'])}, and not scalar, vector or matrix with values`)
  const samples = points.map(sampleOf)
  return samples.includes(null) ? noAnswer('a sample is no number') : { ok: true, samples: samples.filter((sample) => sample !== null) }
}

function pointsOf(type: unknown, result: unknown): readonly unknown[] | null {
  if (type === 'scalar') return [result]
  if (!Array.isArray(result) || !result.every(isRecord)) return null
  if (type === 'vector') return result.map(({ value }) => value)
  if (type !== 'matrix' || !result.every(({ values }) => Array.isArray(values))) return null
  return result.flatMap(({ values }) => values as readonly unknown[])
}

/** `[1435781451.781, "0.5"]`: the time, and the value as a text. */
function sampleOf(point: unknown): number | null {
  const text: unknown = Array.isArray(point) ? point[1] : undefined
  if (typeof text !== 'string') return null
  const special = specialNumbers[text]
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
  return { ok: false, message: `the answer is not one of Prometheus: ${why}` }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : 'not said'
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
