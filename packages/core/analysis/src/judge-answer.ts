import type { Analysis } from '@tranche/api-schema'
import type { CelLimits, CelProgram } from '@tranche/cel'
import { compileCondition } from '@tranche/validation'
import { clipText, readJson } from '@tranche/kube-types'
import { prometheusSamples } from './prometheus-samples.ts'
import type { MeasurementOutcome } from './record-measurement.ts'
import { shortened } from './shortened.ts'

/** The parts of an HTTP response that conditions use. */
export interface RawAnswer {
  readonly status: number
  /** Value of the header `content-type`; empty without one. */
  readonly contentType: string
  readonly body: string
}

/** A response with the function that removes secrets from texts about it. */
export interface MetricAnswer extends RawAnswer {
  /** Removes secrets that the server echoed from a text. */
  readonly conceal: (text: string) => string
}

/** A response and the facts to judge it: plain data that another thread can receive. */
export interface JudgedAnswer {
  readonly analysis: Analysis
  /** Arguments of the request. */
  readonly values: Values
  readonly answer: RawAnswer
}

/** Outcome with texts as the server wrote them: apply {@link fitForStatus} before use. */
export type RawOutcome = MeasurementOutcome

type Values = Readonly<Record<string, string>>

/** Maximum characters of a body, and of conditions, to judge on the main thread. */
const QUICK_BODY = 16_384
const QUICK_CONDITIONS = 2_000
/** Maximum steps of a condition on the main thread: 2 to 5 ms, measured with the slowest operators. */
const QUICK_STEPS = 4_000

/**
 * Judges a response: a failure when failureCondition holds, else a success when successCondition holds. With only one condition, the
 * other outcome follows when it is false, except for NaN (no traffic, for example). All other cases are inconclusive.
 *
 * An HTTP status outside 2xx is an error, unless a condition asks for `status`.
 *
 * Takes up to a second: call {@link judgeQuickly} first on the main thread, and this function in a worker thread.
 */
export function judgeAnswer(judged: JudgedAnswer): RawOutcome {
  return judge(judged, {}) as RawOutcome
}

/** The same as {@link judgeAnswer}, limited to about 5 ms. @returns null when that is not enough */
export function judgeQuickly(judged: JudgedAnswer): RawOutcome | null {
  const { analysis, answer } = judged
  const conditions = (analysis.successCondition?.length ?? 0) + (analysis.failureCondition?.length ?? 0)
  if (answer.body.length > QUICK_BODY || conditions > QUICK_CONDITIONS) return null
  return judge(judged, { mostSteps: QUICK_STEPS })
}

/** @returns the outcome without secrets, and with texts cut for the status */
export function fitForStatus({ phase, value, message }: RawOutcome, conceal: MetricAnswer['conceal']): MeasurementOutcome {
  return {
    phase,
    ...(value !== undefined && { value: shortened(conceal(value)) }),
    ...(message !== undefined && { message: shortened(conceal(message)) }),
  }
}

/** @returns null when a condition takes more steps than `limits` allow */
function judge({ analysis, values, answer }: JudgedAnswer, limits: CelLimits): RawOutcome | null {
  const conditions = compile(analysis, Object.keys(values))
  if ('error' in conditions) return { phase: 'Error', message: conditions.error }
  const asksStatus = Object.values(conditions).some((program) => program?.uses('status') === true)
  const read = analysis.prometheus === undefined ? readAnswer(answer, asksStatus) : readSamples(answer)
  if (!read.ok) return { phase: 'Error', message: read.message }
  const facts = { result: read.result, status: answer.status, args: values }
  const outcome = decide(analysis, conditions, { facts, limits })
  return outcome === null ? null : { ...outcome, value: valueText(read.result, answer, asksStatus) }
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

/** Reads the samples. Prometheus rejects a query with an HTTP error status and the reason in the body. */
function readSamples(answer: RawAnswer): Read {
  const json = parse(answer)
  if (!json.ok) return isGood(answer) ? json : refused(answer)
  const read = prometheusSamples(json.result)
  if (read.ok) return isGood(answer) ? { ok: true, result: read.samples } : refused(answer)
  return isGood(answer) || read.message.startsWith('Prometheus') ? read : refused(answer)
}

function readAnswer(answer: RawAnswer, asksStatus: boolean): Read {
  if (!asksStatus && !isGood(answer)) return refused(answer)
  if (answer.body.trim() === '') return { ok: true, result: null }
  const json = parse(answer)
  return !json.ok && asksStatus ? { ok: true, result: null } : json
}

function isGood({ status }: RawAnswer): boolean {
  return status >= 200 && status < 300
}

function refused({ status }: RawAnswer): Read {
  const hint = status === 401 || status === 403 ? ': check the credentials in headers' : ''
  return { ok: false, message: `the server responded with HTTP status ${status}${hint}` }
}

/** Maximum characters of a content type in an error. */
const SHOWN_TYPE = 60

/** Maximum nesting of a response, because parsing and conditions recurse by level. */
const DEEPEST_ANSWER = 100

function parse({ body, contentType }: RawAnswer): Read {
  if (nestingOf(body) > DEEPEST_ANSWER) return { ok: false, message: `the response nests more than ${DEEPEST_ANSWER} levels` }
  try {
    return { ok: true, result: readJson(body) }
  } catch {
    return {
      ok: false,
      message: `the response is not JSON${contentType === '' ? '' : ` but ${clipText(contentType.split(';', 1)[0] ?? '', SHOWN_TYPE)}`}`,
    }
  }
}

/** Counts without a regular expression, whose time could grow with the square of the length. */
function nestingOf(json: string): number {
  let depth = 0
  let deepest = 0
  let isText = false
  for (let at = 0; at < json.length; at++) {
    const letter = json[at]
    if (isText && letter === '\\') at++
    else if (letter === '"') isText = !isText
    else if (isText) continue
    else if (letter === '[' || letter === '{') deepest = Math.max(deepest, ++depth)
    else if (letter === ']' || letter === '}') depth--
  }
  return deepest
}

interface Deciding {
  readonly facts: Readonly<Record<string, unknown>> & { readonly result: unknown }
  readonly limits: CelLimits
}

function decide(
  { successCondition, failureCondition }: Analysis,
  { success, failure }: Conditions,
  { facts, limits }: Deciding,
): RawOutcome | null {
  const failed = holds(failure, facts, limits)
  if (failed === 'too costly') return tooCostly('failureCondition', failureCondition, limits)
  if (typeof failed === 'object') return { phase: 'Error', message: `failureCondition: ${failed.error}` }
  if (failed) return { phase: 'Failed', message: `failureCondition holds: ${failureCondition}` }
  const succeeded = holds(success, facts, limits)
  if (succeeded === 'too costly') return tooCostly('successCondition', successCondition, limits)
  if (typeof succeeded === 'object') return { phase: 'Error', message: `successCondition: ${succeeded.error}` }
  if (succeeded) return { phase: 'Successful' }
  if (failure !== undefined && success !== undefined) return { phase: 'Inconclusive', message: 'neither condition holds' }
  if (hasNaN(facts.result)) return { phase: 'Inconclusive', message: 'the result is NaN, which is not a number' }
  return success === undefined
    ? { phase: 'Successful' }
    : { phase: 'Failed', message: `successCondition does not hold: ${successCondition}` }
}

/** Maximum characters of a condition in an error. */
const SHOWN_CONDITION = 60

/** Null when a call with more steps may give a value: a caller with a lower limit then asks again. */
function tooCostly(field: 'failureCondition' | 'successCondition', condition = '', { mostSteps }: CelLimits): RawOutcome | null {
  if (mostSteps !== undefined) return null
  const shown = clipText(condition, SHOWN_CONDITION)
  const fix = 'query fewer values, or loop over fewer'
  return { phase: 'Error', message: `${field} "${shown}" takes too many steps for this response (actual cost limit exceeded): ${fix}` }
}

/** @returns whether the condition holds; false without one; the error when it cannot be evaluated */
function holds(
  program: CelProgram | undefined,
  facts: Deciding['facts'],
  limits: CelLimits,
): boolean | 'too costly' | { readonly error: string } {
  const result = program?.evaluate(facts, limits)
  if (result === undefined) return false
  if (!result.ok) return result.isTooCostly ? 'too costly' : { error: firstLine(result.error) }
  return typeof result.value === 'boolean' ? result.value : { error: 'it is neither true nor false' }
}

function hasNaN(result: unknown): boolean {
  return Array.isArray(result) && result.some((sample) => Number.isNaN(sample))
}

function valueText(result: unknown, { status }: RawAnswer, withStatus: boolean): string {
  const text =
    Array.isArray(result) && result.every((sample) => typeof sample === 'number') ? `[${result.join(', ')}]` : JSON.stringify(result)
  return withStatus ? `HTTP ${status} ${text}` : text
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}
