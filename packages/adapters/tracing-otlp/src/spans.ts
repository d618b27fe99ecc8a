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
} from '@tranche/tracing'

/** Dependencies of {@link createSpans}. */
export interface SpansParts {
  readonly clock: Clock
  readonly api: typeof import('@opentelemetry/api')
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
export function createSpans({ clock, api, tracer, frames }: SpansParts): Tracer {
  const active = (): Frame | null => {
    const frame = frames.getStore() ?? null
    if (frame?.endedMs === undefined) return frame
    return frame.isDropped === true || clock.monotonicMs() - frame.endedMs > LINGER_MS ? null : frame
  }

  function open(name: string, { kind = 'internal', attributes, ifMoved = false }: SpanOptions, opening: Opening): Frame {
    const { outer, context, links, hops } = opening
    const span = tracer.startSpan(name, { kind: api.SpanKind[kinds[kind]], ...(attributes && { attributes }), links: [...links] }, context)
    if (!ifMoved) moved(outer)
    const place = placeOf(span.spanContext(), hops)
    return { context: api.trace.setSpan(context, span), place, outer, span, isMoved: !ifMoved }
  }

  function run<Result>(frame: Frame, act: (span: Span) => Result): Result {
    const { span } = frame
    const fail = (error: unknown): void => {
      moved(frame)
      span?.setStatus({ code: api.SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) })
      span?.setAttribute('error.type', isAppError(error) ? error.code : error instanceof Error ? error.name : 'unknown')
    }
    const end = (): void => {
      frame.endedMs = clock.monotonicMs()
      if (frame.isMoved) span?.end()
      else frame.isDropped = true
    }
    const handle: Span = {
      set: (attributes) => void span?.setAttributes(attributes),
      fail,
      next: () => (frame.isMoved ? formatTraceContext(frame.place) : undefined),
      within: (inner) => frames.run(frame, inner),
    }
    try {
      const result = frames.run(frame, act, handle)
      if (!(result instanceof Promise)) {
        end()
        return result
      }
      result.then(end, (error: unknown) => {
        fail(error)
        end()
      })
      return result
    } catch (error) {
      fail(error)
      end()
      throw error
    }
  }

  return {
    isOn: true,
    begin: (name, options, act) => run(open(name, options, openingAfter(options.after)), act),
    inside(name, options, act) {
      const outer = active()
      if (outer === null) return noTracer.inside(name, options, act)
      return run(open(name, options, { outer, context: outer.context, links: [], hops: outer.place.hops }), act)
    },
    after(context, act) {
      const place = parseTraceContext(context)
      return frames.run(place === null ? null : { context: contextAt(place), place, outer: null, isMoved: false }, act)
    },
    current() {
      const frame = active()
      return frame === null ? undefined : formatTraceContext(frame.place)
    },
    traceId() {
      const place = active()?.place
      return place?.isSampled === true ? place.traceId : undefined
    },
  }

  function openingAfter(after: TraceContext | undefined): Opening {
    const place = parseTraceContext(after)
    if (place === null) return { outer: null, context: api.ROOT_CONTEXT, links: [], hops: 0 }
    if (place.hops < MOST_HOPS) return { outer: null, context: contextAt(place), links: [], hops: place.hops + 1 }
    return { outer: null, context: api.ROOT_CONTEXT, links: [{ context: spanContextOf(place) }], hops: 0 }
  }

  function contextAt(place: TracePlace): Context {
    return api.trace.setSpanContext(api.ROOT_CONTEXT, spanContextOf(place))
  }

  function spanContextOf({ traceId, spanId, isSampled }: TracePlace): SpanContext {
    return { traceId, spanId, traceFlags: isSampled ? api.TraceFlags.SAMPLED : api.TraceFlags.NONE, isRemote: true }
  }

  function placeOf({ traceId, spanId, traceFlags }: SpanContext, hops: number): TracePlace {
    return { traceId, spanId, isSampled: (traceFlags & api.TraceFlags.SAMPLED) !== 0, hops }
  }
}

/** Position where a span begins. */
interface Opening {
  readonly outer: Frame | null
  readonly context: Context
  readonly links: readonly Link[]
  readonly hops: number
}

const kinds = { internal: 'INTERNAL', server: 'SERVER', client: 'CLIENT', producer: 'PRODUCER', consumer: 'CONSUMER' } as const

function moved(frame: Frame | null): void {
  for (let one = frame; one !== null && !one.isMoved; one = one.outer) one.isMoved = true
}
