import type { AsyncLocalStorage } from 'node:async_hooks'
import type { Context, Link, Span as OtelSpan, SpanContext, Tracer as OtelTracer } from '@opentelemetry/api'
import type { Clock } from '@tranche/clock'
import { isAppError } from '@tranche/errors'
import {
  formatTraceContext,
  noTracer,
  parseTraceContext,
  type Span,
  type SpanOptions,
  type TraceContext,
  type TracePlace,
  type Tracer,
} from '@tranche/telemetry'

type Api = typeof import('@opentelemetry/api')

/** Dependencies of {@link createSpans}. */
export interface SpansParts {
  readonly clock: Clock
  readonly api: Api
  readonly tracer: OtelTracer
  /** Active frame; null: explicitly none. */
  readonly frames: AsyncLocalStorage<Frame | null>
}

/** Span, or position in a trace, that current work follows. */
export interface Frame {
  readonly context: Context
  readonly place: TracePlace
  /** Enclosing frame. */
  readonly outer: Frame | null
  /** Undefined if it is only a position. */
  readonly span?: OtelSpan
  /** Whether a span was exported inside it. */
  isMoved: boolean
  /** Monotonic end time, in milliseconds. */
  endedMs?: number
  /** Whether it ended without being exported. */
  isDropped?: boolean
}

/** Number of consecutive passes after which a new trace begins that links to the old one: a release may take days. */
const MOST_HOPS = 32
/** How long work that a span started (a timer, an unawaited response) still belongs to it, in milliseconds. */
const LINGER_MS = 1_000

/** Implements the port over an OpenTelemetry tracer. The active frame follows the chain of calls, including promises and timers. */
export function createSpans(parts: SpansParts): Tracer {
  const { api, frames } = parts
  return {
    isOn: true,
    begin: (name, options, act) => run(parts, open(parts, name, options, openingAfter(api, options.after)), act),
    inside(name, options, act) {
      const outer = activeFrame(parts)
      if (outer === null) return noTracer.inside(name, options, act)
      const opening = { outer, context: outer.context, links: [], hops: outer.place.hops }
      return run(parts, open(parts, name, options, opening), act)
    },
    after(context, act) {
      const place = parseTraceContext(context)
      return frames.run(place === null ? null : { context: contextAt(api, place), place, outer: null, isMoved: false }, act)
    },
    current() {
      const frame = activeFrame(parts)
      return frame === null ? undefined : formatTraceContext(frame.place)
    },
    traceId() {
      const place = activeFrame(parts)?.place
      return place?.isSampled === true ? place.traceId : undefined
    },
  }
}

function activeFrame({ clock, frames }: SpansParts): Frame | null {
  const frame = frames.getStore() ?? null
  if (frame?.endedMs === undefined) return frame
  return frame.isDropped === true || clock.monotonicMs() - frame.endedMs > LINGER_MS ? null : frame
}

/** Position where a span begins. */
interface Opening {
  readonly outer: Frame | null
  readonly context: Context
  readonly links: readonly Link[]
  readonly hops: number
}

const kinds = { internal: 'INTERNAL', server: 'SERVER', client: 'CLIENT', producer: 'PRODUCER', consumer: 'CONSUMER' } as const

function openingAfter(api: Api, after: TraceContext | undefined): Opening {
  const place = parseTraceContext(after)
  if (place === null) return { outer: null, context: api.ROOT_CONTEXT, links: [], hops: 0 }
  if (place.hops < MOST_HOPS) return { outer: null, context: contextAt(api, place), links: [], hops: place.hops + 1 }
  return { outer: null, context: api.ROOT_CONTEXT, links: [{ context: spanContextOf(api, place) }], hops: 0 }
}

function open({ api, tracer }: SpansParts, name: string, options: SpanOptions, { outer, context, links, hops }: Opening): Frame {
  const { kind = 'internal', attributes, ifMoved = false } = options
  const span = tracer.startSpan(name, { kind: api.SpanKind[kinds[kind]], ...(attributes && { attributes }), links: [...links] }, context)
  if (!ifMoved) moved(outer)
  const place = placeOf(api, span.spanContext(), hops)
  return { context: api.trace.setSpan(context, span), place, outer, span, isMoved: !ifMoved }
}

/** Ends the frame when `act` returns or throws, or when its promise settles. */
function run<Result>(parts: SpansParts, frame: Frame, act: (span: Span) => Result): Result {
  try {
    const result = parts.frames.run(frame, act, handleOf(parts, frame))
    if (!(result instanceof Promise)) {
      end(parts, frame)
      return result
    }
    result.then(
      () => end(parts, frame),
      (error: unknown) => endFailed(parts, frame, error),
    )
    return result
  } catch (error) {
    endFailed(parts, frame, error)
    throw error
  }
}

function handleOf(parts: SpansParts, frame: Frame): Span {
  return {
    set: (attributes) => void frame.span?.setAttributes(attributes),
    fail: (error) => fail(parts, frame, error),
    next: () => (frame.isMoved ? formatTraceContext(frame.place) : undefined),
    within: (inner) => parts.frames.run(frame, inner),
  }
}

function endFailed(parts: SpansParts, frame: Frame, error: unknown): void {
  fail(parts, frame, error)
  end(parts, frame)
}

function fail({ api }: SpansParts, frame: Frame, error: unknown): void {
  moved(frame)
  const { span } = frame
  span?.setStatus({ code: api.SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) })
  span?.setAttribute('error.type', isAppError(error) ? error.code : error instanceof Error ? error.name : 'unknown')
}

function end({ clock }: SpansParts, frame: Frame): void {
  frame.endedMs = clock.monotonicMs()
  if (frame.isMoved) frame.span?.end()
  else frame.isDropped = true
}

function moved(frame: Frame | null): void {
  for (let one = frame; one !== null && !one.isMoved; one = one.outer) one.isMoved = true
}

function contextAt(api: Api, place: TracePlace): Context {
  return api.trace.setSpanContext(api.ROOT_CONTEXT, spanContextOf(api, place))
}

function spanContextOf(api: Api, { traceId, spanId, isSampled }: TracePlace): SpanContext {
  return { traceId, spanId, traceFlags: isSampled ? api.TraceFlags.SAMPLED : api.TraceFlags.NONE, isRemote: true }
}

function placeOf(api: Api, { traceId, spanId, traceFlags }: SpanContext, hops: number): TracePlace {
  return { traceId, spanId, isSampled: (traceFlags & api.TraceFlags.SAMPLED) !== 0, hops }
}
