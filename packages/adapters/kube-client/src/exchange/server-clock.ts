import type { Clock } from '@tranche/clock'
import type { Exchange, WireResponse } from '@tranche/wire'

/** Clock that shows the API server's wall time, and learns it from responses. */
export interface ServerClock extends Clock {
  /** @returns `exchange`, whose responses set this clock from now on */
  follow(exchange: Exchange): Exchange
  /** Wall time of this machine minus that of the API server, in milliseconds; null before the first response with a `Date`. */
  skewMs(): number | null
}

/** Exchanges to the API server, and the clock. */
export interface Connection {
  readonly exchange: Exchange
  /** Carries watches. */
  readonly watchExchange?: Exchange
  /** Carries the Lease. */
  readonly leaseExchange?: Exchange
  readonly clock: Clock
}

/** The `Date` of a response counts whole seconds, truncated and not rounded. */
const DATE_STEP_MS = 1_000
/** How long responses must contradict the known bounds before they count, in milliseconds. */
const HOLD_MS = 30_000

/**
 * Creates a clock that shows the API server's wall time, from the `Date` of its responses (F14). The timestamps of one leader are read by
 * the next on the same clock, however wrong their machines' clocks are. Monotonic time and timers are those of `own`.
 *
 * Each response bounds the server's time. Bounds that agree are intersected, so after some responses the error is a few milliseconds.
 * Responses that contradict them count only after 30 s without one that agrees: then the server's clock was set. One of several servers
 * with a wrong clock changes nothing.
 *
 * This machine's time stays in use while it lies within the bounds, and before the first response. Steps of this machine's wall clock are
 * not followed.
 */
export function createServerClock(own: Clock): ServerClock {
  const ownOffsetMs = own.nowMs() - own.monotonicMs()
  let bounds: Bounds | null = null
  let contradicting: ContradictingBounds | null = null
  let offsetMs = ownOffsetMs

  function learn({ headers }: WireResponse, sentMs: number): void {
    const dateMs = readDate(headers['date'])
    if (dateMs === null) return
    const reported = { lowMs: dateMs - own.monotonicMs(), highMs: dateMs + DATE_STEP_MS - sentMs }
    const agreed = bounds === null ? reported : shared(bounds, reported)
    contradicting = agreed === null ? contradictingAfter(contradicting, reported, own.monotonicMs()) : null
    if (agreed !== null) bounds = agreed
    else if (contradicting !== null && own.monotonicMs() - contradicting.sinceMs >= HOLD_MS) bounds = contradicting
    else return
    offsetMs = isWithin(bounds, ownOffsetMs) ? ownOffsetMs : (bounds.lowMs + bounds.highMs) / 2
  }

  return {
    nowMs: () => own.monotonicMs() + offsetMs,
    monotonicMs: () => own.monotonicMs(),
    setTimer: (delayMs, callback) => own.setTimer(delayMs, callback),
    skewMs: () => (bounds === null ? null : own.nowMs() - own.monotonicMs() - offsetMs),
    follow: (exchange) => async (request, signal) => {
      const sentMs = own.monotonicMs()
      const response = await exchange(request, signal)
      learn(response, sentMs)
      return response
    },
  }
}

/** @returns the options with exchanges that set the clock, and with that clock in place of the machine's: see {@link createServerClock} */
export function onServerClock<T extends Connection>(options: T): T & { readonly clock: ServerClock } {
  const clock = createServerClock(options.clock)
  const { exchange, watchExchange, leaseExchange } = options
  return {
    ...options,
    clock,
    exchange: clock.follow(exchange),
    ...(watchExchange !== undefined && { watchExchange: clock.follow(watchExchange) }),
    ...(leaseExchange !== undefined && { leaseExchange: clock.follow(leaseExchange) }),
  }
}

/** Bounds of the server's wall time minus the monotonic time, in milliseconds. */
interface Bounds {
  readonly lowMs: number
  readonly highMs: number
}

/** Bounds that contradict those in use. */
interface ContradictingBounds extends Bounds {
  /** Monotonic time since which no response has agreed with those in use, in milliseconds. */
  readonly sinceMs: number
}

function contradictingAfter(before: ContradictingBounds | null, reported: Bounds, nowMs: number): ContradictingBounds {
  return { ...((before && shared(before, reported)) ?? reported), sinceMs: before?.sinceMs ?? nowMs }
}

function shared(a: Bounds, b: Bounds): Bounds | null {
  const both = { lowMs: Math.max(a.lowMs, b.lowMs), highMs: Math.min(a.highMs, b.highMs) }
  return both.lowMs <= both.highMs ? both : null
}

function isWithin({ lowMs, highMs }: Bounds, offsetMs: number): boolean {
  return offsetMs >= lowMs && offsetMs <= highMs
}

/** @returns epoch milliseconds; null if a response has no date or an unreadable one */
function readDate(text: string | undefined): number | null {
  const dateMs = Date.parse(text ?? '')
  return Number.isNaN(dateMs) ? null : dateMs
}
