import type { EntryOptions, Span, SpanAttributes, SpanOptions, TraceContext, Tracer } from '@tranche/telemetry'

/** One span as a tracer was given it. */
export interface SeenSpan {
  readonly name: string
  readonly options: EntryOptions
  /** Whether it has a parent. */
  readonly isInside: boolean
  readonly attributes: SpanAttributes
  readonly failures: readonly unknown[]
}

/**
 * @param nextOf where what follows from a span comes after, by its name
 * @returns a tracer that appends each span to `spans` as it begins
 */
export function recordingTracer(spans: SeenSpan[], nextOf: (name: string) => TraceContext | undefined): Tracer {
  function run<Result>(name: string, isInside: boolean, options: SpanOptions, act: (span: Span) => Result): Result {
    const seen = { name, options, isInside, attributes: { ...options.attributes }, failures: [] as unknown[] }
    spans.push(seen)
    return act({
      set: (attributes) => void Object.assign(seen.attributes, attributes),
      fail: (error) => void seen.failures.push(error),
      next: () => nextOf(name),
      within: (inner) => inner(),
    })
  }
  return {
    isOn: true,
    begin: (name, options, act) => run(name, false, options, act),
    inside: (name, options, act) => run(name, true, options, act),
    after: (_context, act) => act(),
    current: () => undefined,
    traceId: () => undefined,
  }
}
