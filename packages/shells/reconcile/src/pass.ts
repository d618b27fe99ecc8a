import type { Clock, Timer } from '@tranche/clock'
import { AppError, isAppError } from '@tranche/errors'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import { type LogFields, type Logger, noSpan, noTracer, type Span, type TraceContext, type Tracer } from '@tranche/telemetry'
import type { ReconcileResult, Reconcile } from './reconcile.ts'

/** Settings of {@link createPass}. */
export interface PassOptions {
  /** Bound to every log line as `controller`, and to every observation. */
  readonly name: string
  readonly reconcile: Reconcile
  readonly clock: Clock
  readonly log: Logger
  /** Deadline after which the signal of a pass aborts, in milliseconds. @default 60_000 */
  readonly deadlineMs?: number
  /** Recheck delay of a key after an error that only a person can fix, in milliseconds. @default 300_000 */
  readonly awaitFixRecheckMs?: number
  /** Called after every pass; an error that it throws is logged and otherwise ignored. */
  readonly observe?: (observation: PassObservation) => void
  /** Traces passes that have written something, or failed. @default no tracing */
  readonly tracer?: Tracer | undefined
}

/** Observation of one pass, for metrics. */
export interface PassObservation {
  readonly name: string
  readonly durationMs: number
  /**
   * `retry`: failed, retries after a back-off. `awaitFix`: failed with an error that only a person can fix. `stopped`: aborted by the stop
   * of the runner.
   */
  readonly outcome: ReconcileResult['kind'] | 'retry' | 'awaitFix' | 'stopped'
}

/** Result of a pass. The owner of the keys applies the back-off of `retry`. */
export type PassResult = (
  | ReconcileResult
  | { readonly kind: 'retry'; readonly error: unknown }
  | { readonly kind: 'awaitFix'; readonly error: unknown; readonly ms: number }
  | { readonly kind: 'stopped' }
) & {
  /** Trace that the next pass of the key continues, if it comes soon. */
  readonly next?: TraceContext | undefined
}

/** Input of one pass. */
export interface PassRun {
  readonly key: ObjectKey
  /** Number of failures of the key in a row before this pass. */
  readonly failures: number
  /** Aborts the pass from outside. */
  readonly stop: AbortSignal
  /** Span that the pass follows. @default the active span */
  readonly after?: TraceContext | undefined
}

/** Maximum time between two passes of one trace, in milliseconds. */
export const FOLLOWS_MS = 10_000

/**
 * Runs passes, each with its own id, a deadline, one log line per error and one observation.
 *
 * @returns a function that runs one pass and never rejects
 */
export function createPass(options: PassOptions): (run: PassRun) => Promise<PassResult> {
  const { name, clock, tracer = noTracer } = options
  let passes = 0

  async function runPass({ key, failures, stop }: PassRun, reconcileId: string, span: Span): Promise<PassResult> {
    const log = options.log.child({ controller: name, reconcileId, key: keyText(key) })
    const startMs = clock.monotonicMs()
    const result = await settlePass(options, key, stop, log)
    const durationMs = clock.monotonicMs() - startMs
    logFailure(log, result, failures + 1, durationMs)
    report(options, log, { name, durationMs, outcome: result.kind })
    return tracer.isOn ? traced(span, result) : result
  }

  return function runPassInSpan(run) {
    const reconcileId = `${name}-${++passes}`
    if (!tracer.isOn) return runPass(run, reconcileId, noSpan)
    const attributes = { 'tranche.key': keyText(run.key), 'tranche.reconcile_id': reconcileId }
    const act = (span: Span): Promise<PassResult> => runPass(run, reconcileId, span)
    if ('after' in run) return tracer.begin(`${name} pass`, { attributes, ifMoved: true, after: run.after }, act)
    return tracer.inside(`${name} pass`, { attributes, ifMoved: true }, act)
  }
}

/** Marks a pass as failed, except on a conflict, which is normal when others write too. */
function traced(span: Span, result: PassResult): PassResult {
  span.set({ 'tranche.outcome': result.kind })
  const { error } = 'error' in result ? result : { error: null }
  if (error !== null && !(isAppError(error) && error.code === 'WRITE_CONFLICT')) span.fail(error)
  const next = span.next()
  return next === undefined ? result : { ...result, next }
}

const DEFAULT_DEADLINE_MS = 60_000
const DEFAULT_AWAIT_FIX_RECHECK_MS = 300_000
/** Number of conflicts in a row that are logged at `debug`: they are a normal cost of reading from a watch. */
const QUIET_CONFLICTS = 4

/** Status of rejected credentials, which the API client logs itself, once for all passes. */
const UNAUTHORIZED = 401

async function settlePass(options: PassOptions, key: ObjectKey, stop: AbortSignal, log: Logger): Promise<PassResult> {
  if (stop.aborted) return { kind: 'stopped' }
  const controller = new AbortController()
  const onStop = (): void => controller.abort(stop.reason)
  stop.addEventListener('abort', onStop, { once: true })
  const deadline = armDeadline(options, key, controller, log)
  try {
    return await options.reconcile(key, controller.signal, log)
  } catch (error) {
    if (stop.aborted) return { kind: 'stopped' }
    return resultOf(error, options.awaitFixRecheckMs ?? DEFAULT_AWAIT_FIX_RECHECK_MS)
  } finally {
    deadline.cancel()
    stop.removeEventListener('abort', onStop)
  }
}

/** Aborts the pass at its deadline. If it continues for as long again, it blocks its key, which is logged. */
function armDeadline(options: PassOptions, key: ObjectKey, controller: AbortController, log: Logger): Timer {
  const { name, clock, deadlineMs = DEFAULT_DEADLINE_MS } = options
  let timer = clock.setTimer(deadlineMs, () => {
    timer = clock.setTimer(deadlineMs, () => log.error({ durationMs: 2 * deadlineMs }, 'pass ignores its deadline'))
    controller.abort(overdue(name, key, deadlineMs))
  })
  return { cancel: () => timer.cancel() }
}

function overdue(name: string, key: ObjectKey, deadlineMs: number): AppError {
  return new AppError('API_DEADLINE', `${name} pass for ${keyText(key)} took longer than ${deadlineMs} ms`, { details: { deadlineMs } })
}

function resultOf(error: unknown, awaitFixRecheckMs: number): PassResult {
  if (!isAppError(error) || error.remedy === 'retry') return { kind: 'retry', error }
  return { kind: 'awaitFix', error, ms: awaitFixRecheckMs }
}

function logFailure(log: Logger, result: PassResult, attempt: number, durationMs: number): void {
  if (result.kind !== 'retry' && result.kind !== 'awaitFix') return
  const { error } = result
  const fields: LogFields = { attempt, durationMs, ...(isAppError(error) ? { code: error.code } : {}), err: error }
  if (isAppError(error) && error.details['status'] === UNAUTHORIZED) return log.debug(fields, 'pass failed')
  if (result.kind === 'awaitFix') return log.error({ ...fields, recheckAfterMs: result.ms }, 'pass failed; a person must act')
  if (!isAppError(error)) return log.error(fields, 'pass failed unexpectedly')
  if (error.code === 'WRITE_CONFLICT' && attempt <= QUIET_CONFLICTS) return log.debug(fields, 'pass had a write conflict')
  log.warn(fields, 'pass failed')
}

function report(options: PassOptions, log: Logger, observation: PassObservation): void {
  try {
    options.observe?.(observation)
  } catch (error) {
    log.error({ err: error }, 'observer failed')
  }
}
