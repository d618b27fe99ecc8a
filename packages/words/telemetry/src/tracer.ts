import type { TraceContext } from './trace-context.ts'

/** Attributes of a span. Never a whole object from the cluster, and no secret. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** Span kind of OpenTelemetry. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer'

/** Options of a span. */
export interface SpanOptions {
  /** @default internal */
  readonly kind?: SpanKind
  readonly attributes?: SpanAttributes
  /** Whether the span is exported only if it failed or has exported child spans: most passes find nothing to do. @default false */
  readonly ifMoved?: boolean
}

/** Options of a root span. */
export interface EntryOptions extends SpanOptions {
  /** Trace context to continue. An invalid one counts as none. @default a new trace */
  readonly after?: TraceContext | undefined
}

/** A span that has not ended. */
export interface Span {
  /** Adds attributes. */
  set(attributes: SpanAttributes): void
  /** Marks the span as failed. An error thrown by `run` does so automatically. */
  fail(error: unknown): void
  /** Trace context for work that this span causes; undefined if it has no exported child span yet, so that nothing follows from it. */
  next(): TraceContext | undefined
  /** Runs `act` inside the span, for callbacks from other code. */
  within<Result>(act: () => Result): Result
}

/**
 * Tracer. Tracing never throws, never blocks, and changes no result: the value or error of `run` is passed through. A span ends when `run`
 * returns, or when the promise that it returned settles.
 */
export interface Tracer {
  /** False if tracing is off, so that callers can skip preparations. */
  readonly isOn: boolean
  /** Runs `run` in a root span, such as that of a pass, a job or a request. */
  begin<Result>(name: string, options: EntryOptions, run: (span: Span) => Result): Result
  /** Runs `run` in a child span of the active span; without an active span, it runs without one. */
  inside<Result>(name: string, options: SpanOptions, run: (span: Span) => Result): Result
  /** Runs `act` as a continuation of `context`; undefined: without a trace context. */
  after<Result>(context: TraceContext | undefined, act: () => Result): Result
  /** Current trace context; undefined outside of all spans. */
  current(): TraceContext | undefined
  /** Trace id of the active span if its trace is sampled, for the log. */
  traceId(): string | undefined
}

/** Span that records nothing. */
export const noSpan: Span = { set: () => {}, fail: () => {}, next: () => undefined, within: (act) => act() }

/** Tracer that records nothing. */
export const noTracer: Tracer = {
  isOn: false,
  begin: (_name, _options, run) => run(noSpan),
  inside: (_name, _options, run) => run(noSpan),
  after: (_context, act) => act(),
  current: () => undefined,
  traceId: () => undefined,
}
