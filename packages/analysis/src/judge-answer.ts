import type { Analysis } from '@tranche/api-schema'
import type { CelProgram } from '@tranche/cel'
import { compileCondition } from '@tranche/validation'
import { prometheusSamples } from './prometheus-samples.ts'
import type { MeasurementOutcome } from './record-measurement.ts'
import { shortened } from './shortened.ts'

/** An answer as it came over HTTP. */
export interface MetricAnswer {
  readonly status: number
  /** Of the header `content-type`; empty where there was none. */
  readonly contentType: string
  readonly body: string
  /** Takes secrets that the server has sent back out of a text. */
  readonly conceal: (text: string) => string
}

type Values = Readonly<Record<string, string>>

/**
 * What an answer means: a failure where failureCondition holds, else a success where successCondition holds. Where only one of
 * the two is given, its being false is the other outcome; but a number that is none (NaN: no traffic, say) makes nothing
 * true by being false. Everything else is inconclusive.
 *
 * An HTTP status outside 2xx is an error, unless a condition asks for `status`.
 *
 * @param values the arguments that the request was made with
 * @returns texts without secrets, and no longer than a status carries
 */
export function judgeAnswer(analysis: Analysis, values: Values, answer: MetricAnswer): MeasurementOutcome {
  const { phase, value, message } = judge(analysis, values, answer)
  return {
    phase,
    ...(value !== undefined && { value: shortened(answer.conceal(value)) }),
    ...(message !== undefined && { message: shortened(answer.conceal(message)) }),
  }
}

function judge(analysis: Analysis, values: Values, answer: MetricAnswer): MeasurementOutcome {
  const conditions = compile(analysis, Object.keys(values))
  if ('error' in conditions) return { phase: 'Error', message: conditions.error }
  const asksStatus = Object.values(conditions).some((program) => program?.uses('status') === true)
  const read = analysis.prometheus === undefined ? readJson(answer, asksStatus) : readSamples(answer)
  if (!read.ok) return { phase: 'Error', message: read.message }
  const value = valueText(read.result, answer, asksStatus)
  return { ...decide(analysis, conditions, { result: read.result, status: answer.status, args: values }), value }
}

interface Conditions {
  readonly success: CelProgram | undefined
  readonly failure: CelProgram | undefined
}

function compile(
  { prometheus, successCondition, failureCondition }: Analysis,
  args: readonly string[],
): Conditions | { readonly error: string } {
  const names = { source: prometheus === undefined ? 'http' : 'prometheus', args } as const
  const [success, failure] = [successCondition, failureCondition].map((text) =>
    text === undefined ? undefined : compileCondition(text, names),
  )
  for (const compiled of [success, failure]) if (compiled?.ok === false) return { error: firstLine(compiled.error) }
  return { success: success?.ok ? success.program : undefined, failure: failure?.ok ? failure.program : undefined }
}

type Read = { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly message: string }

/** A query that is refused is answered with an HTTP status beside the reason. */
function readSamples(answer: MetricAnswer): Read {
  const json = parse(answer)
  if (!json.ok) return isGood(answer) ? json : refused(answer)
  const read = prometheusSamples(json.result)
  if (read.ok) return isGood(answer) ? { ok: true, result: read.samples } : refused(answer)
  return isGood(answer) || read.message.startsWith('Prometheus') ? read : refused(answer)
}

function readJson(answer: MetricAnswer, asksStatus: boolean): Read {
  if (!asksStatus && !isGood(answer)) return refused(answer)
  if (answer.body.trim() === '') return { ok: true, result: null }
  const json = parse(answer)
  return !json.ok && asksStatus ? { ok: true, result: null } : json
}

function isGood({ status }: MetricAnswer): boolean {
  return status >= 200 && status < 300
}

function refused({ status }: MetricAnswer): Read {
  const hint = status === 401 || status === 403 ? ': it wants other credentials; see headers' : ''
  return { ok: false, message: `it was answered with HTTP status ${status}${hint}` }
}

function parse({ body, contentType }: MetricAnswer): Read {
  try {
    return { ok: true, result: JSON.parse(body) as unknown }
  } catch {
    return { ok: false, message: `the answer is no JSON${contentType === '' ? '' : ` but ${contentType.split(';', 1)[0]?.slice(0, 60)}`}` }
  }
}

interface Facts extends Readonly<Record<string, unknown>> {
  readonly result: unknown
}

function decide({ successCondition, failureCondition }: Analysis, { success, failure }: Conditions, facts: Facts): MeasurementOutcome {
  const failed = holds(failure, facts)
  if (typeof failed === 'string') return { phase: 'Error', message: `failureCondition: ${failed}` }
  if (failed) return { phase: 'Failed', message: `failureCondition holds: ${failureCondition}` }
  const succeeded = holds(success, facts)
  if (typeof succeeded === 'string') return { phase: 'Error', message: `successCondition: ${succeeded}` }
  if (succeeded) return { phase: 'Successful' }
  if (failure !== undefined && success !== undefined) return { phase: 'Inconclusive', message: 'neither condition holds' }
  if (hasNaN(facts.result)) return { phase: 'Inconclusive', message: 'the answer is NaN, which is no number' }
  return success === undefined
    ? { phase: 'Successful' }
    : { phase: 'Failed', message: `successCondition does not hold: ${successCondition}` }
}

/** @returns whether the condition holds; false without one; the reason where it cannot be told */
function holds(program: CelProgram | undefined, facts: Facts): boolean | string {
  const result = program?.evaluate(facts)
  if (result === undefined) return false
  if (!result.ok) return firstLine(result.error)
  return typeof result.value === 'boolean' ? result.value : 'it is neither true nor false'
}

function hasNaN(result: unknown): boolean {
  return Array.isArray(result) && result.some((sample) => Number.isNaN(sample))
}

function valueText(result: unknown, { status }: MetricAnswer, withStatus: boolean): string {
  const text =
    Array.isArray(result) && result.every((sample) => typeof sample === 'number') ? `[${result.join(', ')}]` : JSON.stringify(result)
  return withStatus ? `HTTP ${status} ${text}` : text
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}
