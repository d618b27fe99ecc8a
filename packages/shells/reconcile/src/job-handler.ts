import type { Clock } from '@tranche/clock'
import { parseKey } from '@tranche/kube-types'
import type { JobHandler, JobNote, JobOutcome } from '@tranche/queue'
import { noTracer, type SpanAttributes, type TraceContext, type Tracer } from '@tranche/telemetry'
import { createPass, FOLLOWS_MS, type PassOptions, type PassResult } from './pass.ts'
import { awaitChange, recheckAfter, SOONEST_RECHECK_MS, type ReconcileResult } from './reconcile.ts'

/** Settings of {@link createJobHandler}. */
export interface JobHandlerOptions extends PassOptions {
  /** First back-off of a key after an error with remedy `retry`, in milliseconds; doubles with each further one in a row. @default 5 */
  readonly backOffBaseMs?: number
  /** Maximum back-off, in milliseconds. @default 30_000 */
  readonly backOffMaxMs?: number
}

/**
 * Runs passes as the handler of a job queue, with the same ids, deadlines, log lines and observations as a runner.
 *
 * @returns a handler that never rejects, so that the queue need not log what the pass has logged. Its back-off is the pass's own and
 * counts the failures that this process has seen.
 */
export function createJobHandler(options: JobHandlerOptions): JobHandler {
  const { tracer = noTracer } = options
  const runPass = createPass(options)
  const failures = new Map<string, number>()

  async function handleJob(key: string, signal: AbortSignal): Promise<JobOutcome> {
    const failed = failures.get(key) ?? 0
    const result = await runPass({ key: parseKey(key), failures: failed, stop: signal })
    return withTrace(outcomeOf(key, failed, result), result.next)
  }

  function outcomeOf(key: string, failed: number, result: PassResult): ReconcileResult {
    if (result.kind === 'retry') {
      failures.set(key, failed + 1)
      return recheckAfter(Math.min(options.backOffMaxMs ?? 30_000, (options.backOffBaseMs ?? 5) * 2 ** failed))
    }
    failures.delete(key)
    if (result.kind === 'recheckAfter' || result.kind === 'awaitFix') return recheckAfter(Math.max(SOONEST_RECHECK_MS, result.ms))
    return result.kind === 'stopped' ? recheckAfter(SOONEST_RECHECK_MS) : awaitChange
  }

  return tracer.isOn ? traced(handleJob, tracer, options.clock) : handleJob
}

/**
 * Traces jobs. A job may arrive before this process's watch shows the change that it was enqueued for. A pass that finds nothing to do then
 * leaves the trace to the next pass of the key, if that comes soon and has none of its own.
 */
function traced(handleJob: (key: string, signal: AbortSignal) => Promise<JobOutcome>, tracer: Tracer, clock: Clock): JobHandler {
  const unused = new Map<string, { readonly trace: TraceContext; readonly sinceMs: number }>()

  function traceFor(key: string, note: JobNote | undefined): { readonly trace: TraceContext; readonly sinceMs: number } | undefined {
    const nowMs = clock.monotonicMs()
    if (note?.trace !== undefined) return { trace: note.trace, sinceMs: nowMs }
    const left = unused.get(key)
    return left !== undefined && nowMs - left.sinceMs <= FOLLOWS_MS ? left : undefined
  }

  return (key, signal, note) => {
    const cause = traceFor(key, note)
    unused.delete(key)
    const options = { kind: 'consumer', ifMoved: true, after: cause?.trace, attributes: attributesOf(key, note) } as const
    return tracer.begin('job', options, async (span) => {
      const outcome = await handleJob(key, signal)
      if (cause !== undefined && span.next() === undefined) unused.set(key, cause)
      return outcome
    })
  }
}

function attributesOf(key: string, note: JobNote | undefined): SpanAttributes {
  return { 'tranche.key': key, ...(note !== undefined && { 'tranche.waited_ms': Math.round(note.waitedMs) }) }
}

function withTrace(outcome: ReconcileResult, trace: TraceContext | undefined): JobOutcome {
  return outcome.kind === 'recheckAfter' && outcome.ms <= FOLLOWS_MS && trace !== undefined ? { ...outcome, trace } : outcome
}
