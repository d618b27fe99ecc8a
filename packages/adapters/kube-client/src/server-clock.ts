import type { Clock } from '@tranche/clock'
import type { Exchange, WireResponse } from '@tranche/wire'

/** A clock whose wall time is that of the API server, and how it learns that time. */
export interface ServerClock extends Clock {
  /** @returns `exchange`, whose answers set this clock from now on */
  follow(exchange: Exchange): Exchange
  /** Wall time of this machine less that of the API server, in milliseconds; null before the first answer with a `Date`. */
  skewMs(): number | null
}

/** What a program reaches the API server by, and its clock. */
export interface Connection {
  readonly exchange: Exchange
  /** Carries watches. */
  readonly watchExchange?: Exchange
  /** Carries the Lease. */
  readonly leaseExchange?: Exchange
  readonly clock: Clock
}

/** The `Date` of an answer counts whole seconds, and is cut, not rounded. */
const DATE_STEP_MS = 1_000
/** So long must answers contradict what was learnt before they count, in milliseconds. */
const HOLD_MS = 30_000

/**
 * Makes a clock that shows the API server's wall time, as the `Date` of its answers tells it (F14): what one leader stamps, the next
 * one reads by the same clock, however wrong the clocks of their machines are. Monotonic time and timers are those of `own`.
 *
 * Each answer says within which bounds the server's time lies; bounds that agree are narrowed to what they share, so that after
 * some answers the error is some milliseconds. Answers that contradict them count once they have done so for 30 s without one that
 * agrees: then the server's clock was set; one of several servers whose clock is wrong moves nothing. The time of this machine stays in
 * use while it lies within the bounds, and before the first answer. Steps of this machine's wall clock are not followed.
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

/** Between which the server's wall time less our monotonic time lies, in milliseconds. */
interface Bounds {
  readonly lowMs: number
  readonly highMs: number
}

/** Bounds that contradict those in use. */
interface ContradictingBounds extends Bounds {
  /** Since when nothing has agreed with those in use, on the monotonic clock. */
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

/** @returns epoch milliseconds; null where an answer has no date, or one that cannot be read */
function readDate(text: string | undefined): number | null {
  const dateMs = Date.parse(text ?? '')
  return Number.isNaN(dateMs) ? null : dateMs
}
