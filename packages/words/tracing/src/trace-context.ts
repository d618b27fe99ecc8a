/**
 * A place in a trace, as text: the `traceparent` of W3C Trace Context, and behind it, after a semicolon, how many passes have handed
 * it on. Whoever carries it does not read it.
 */
export type TraceContext = string

/** What a {@link TraceContext} says. */
export interface TracePlace {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  /** Whether the trace is recorded. */
  readonly isSampled: boolean
  /** How many passes have handed it on (0 to 999). */
  readonly hops: number
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:;(\d{1,3}))?$/

/** @returns null for what is no place in a trace: whoever meets one begins a trace of its own */
export function parseTraceContext(text: unknown): TracePlace | null {
  const found = typeof text === 'string' ? form.exec(text) : null
  if (found === null) return null
  const [, version = '', traceId = '', spanId = '', flags = '', hops = '0'] = found
  if (version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1, hops: Number(hops) }
}

/** The text of a place. */
export function formatTraceContext({ traceId, spanId, isSampled, hops }: TracePlace): TraceContext {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}${hops > 0 ? `;${Math.min(hops, 999)}` : ''}`
}
