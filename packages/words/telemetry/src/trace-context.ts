/**
 * Trace context as text: the `traceparent` of W3C Trace Context, a semicolon, and the number of passes that propagated it. Carriers treat
 * it as opaque.
 */
export type TraceContext = string

/** Parsed {@link TraceContext}. */
export interface TracePlace {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  /** Whether the trace is sampled. */
  readonly isSampled: boolean
  /** Number of passes that propagated it (0 to 999). */
  readonly hops: number
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:;(\d{1,3}))?$/

/** @returns null for an invalid trace context; the caller then starts a new trace */
export function parseTraceContext(text: unknown): TracePlace | null {
  const found = typeof text === 'string' ? form.exec(text) : null
  if (found === null) return null
  const [, version = '', traceId = '', spanId = '', flags = '', hops = '0'] = found
  if (version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1, hops: Number(hops) }
}

/** @returns the text of a trace context */
export function formatTraceContext({ traceId, spanId, isSampled, hops }: TracePlace): TraceContext {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}${hops > 0 ? `;${Math.min(hops, 999)}` : ''}`
}
