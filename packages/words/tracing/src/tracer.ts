import type { TraceContext } from './trace-context.ts'

/** What a span tells beside its name and its time; never an object of the cluster as a whole, and no secret. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** What a span is to those around it, as OpenTelemetry calls it. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer'

/** How a span begins. */
export interface SpanOptions {
  /** @default internal */
  readonly kind?: SpanKind
  readonly attributes?: SpanAttributes
  /** Whether it is told only when something was told inside it, or when it failed: most passes find nothing to do. @default false */
  readonly ifMoved?: boolean
}

/** How a span begins that stands in no other one. */
export interface EntryOptions extends SpanOptions {
  /** Where it comes after, wherever that was; what is no place in a trace counts as none. @default a trace of its own */
  readonly after?: TraceContext | undefined
}

/** One span, while it goes on. */
export interface Span {
  /** Adds to what it tells. */
  set(attributes: SpanAttributes): void
  /** Says that what it is about has failed. What `run` throws says so by itself. */
  fail(error: unknown): void
  /** Where what follows from it comes after; undefined where nothing was told inside it yet, and nothing follows. */
  next(): TraceContext | undefined
  /** Runs `act` inside the span: for callbacks that come from elsewhere. */
  within<Result>(act: () => Result): Result
}

/**
 * Where traces are told. Tracing never throws, keeps nobody waiting, and changes no result: what `run` returns or throws is returned or
 * thrown as it is. A span ends when `run` returns, or when the promise that it returned settles.
 */
export interface Tracer {
  /** False where nothing is told: whoever would have to prepare something for it need not. */
  readonly isOn: boolean
  /** Runs `run` in a span that stands in no other: of a pass, a job, a request. */
  begin<Result>(name: string, options: EntryOptions, run: (span: Span) => Result): Result
  /** Runs `run` in a span inside the one that is active; where none is, without. */
  inside<Result>(name: string, options: SpanOptions, run: (span: Span) => Result): Result
  /** Runs `act` as what follows from `context`. Undefined: as what follows from nothing. */
  after<Result>(context: TraceContext | undefined, act: () => Result): Result
  /** Where what is done now comes after; undefined outside of all spans. */
  current(): TraceContext | undefined
  /** Of the span that is active, where its trace is recorded: for the log. */
  traceId(): string | undefined
}

/** A span that tells nothing. */
export const noSpan: Span = { set: () => {}, fail: () => {}, next: () => undefined, within: (act) => act() }

/** Tells nothing. */
export const noTracer: Tracer = {
  isOn: false,
  begin: (_name, _options, run) => run(noSpan),
  inside: (_name, _options, run) => run(noSpan),
  after: (_context, act) => act(),
  current: () => undefined,
  traceId: () => undefined,
}
