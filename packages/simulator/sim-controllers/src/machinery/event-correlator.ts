import type { KubeObject } from '@tranche/kube-types'

/** Event to write. */
export interface EventSeries {
  /** Number of occurrences; 1 for a new event. */
  readonly count: number
  /** Its message. */
  readonly text: string
  /** Identity shared by repetitions, under which the recorder notes its write. */
  readonly entry: { name?: string; firstTimestamp?: string }
}

/** Aggregates repeated events. */
export interface EventCorrelator {
  /** @returns undefined for an event above the rate limit */
  observe(about: KubeObject, type: string, reason: string, message: string): EventSeries | undefined
}

const SIMILAR = 10
const SIMILAR_WITHIN_MS = 10 * 60_000
const BURST = 25
const REFILL_MS = 5 * 60_000
/** Number of objects and events in memory; the oldest are dropped. */
const MOST_KEPT = 4096

/**
 * Events of one object and reason that differ only in their message are similar. From the tenth on they are combined into one, until ten
 * minutes have passed without any. An object has a burst of 25 events, and one more every five minutes.
 *
 * @param monotonicMs the clock's monotonic time
 * @see client-go, EventCorrelator, with its default options
 */
export function createEventCorrelator(monotonicMs: () => number): EventCorrelator {
  const budgets = new Map<string, { tokens: number; atMs: number }>()
  const similar = new Map<string, { readonly messages: Set<string>; atMs: number }>()
  const series = new Map<string, { count: number; readonly entry: EventSeries['entry'] }>()

  function isAllowed(uid: string): boolean {
    const nowMs = monotonicMs()
    const budget = kept(budgets, uid, () => ({ tokens: BURST, atMs: nowMs }))
    budget.tokens = Math.min(BURST, budget.tokens + (nowMs - budget.atMs) / REFILL_MS)
    budget.atMs = nowMs
    if (budget.tokens < 1) return false
    budget.tokens--
    return true
  }

  /** @returns whether enough similar events have occurred for this one to be combined with them */
  function isCombined(kind: string, message: string): boolean {
    const nowMs = monotonicMs()
    const group = kept(similar, kind, () => ({ messages: new Set<string>(), atMs: nowMs }))
    if (nowMs - group.atMs > SIMILAR_WITHIN_MS) group.messages.clear()
    group.atMs = nowMs
    group.messages.add(message)
    if (group.messages.size < SIMILAR) return false
    group.messages.delete(group.messages.values().next().value!)
    return true
  }

  return {
    observe({ metadata: { uid } }, type, reason, message) {
      const kind = `${uid}/${type}/${reason}`
      const combined = isCombined(kind, message)
      const one = kept(series, combined ? kind : `${kind}/${message}`, () => ({ count: 0, entry: {} }))
      one.count++
      if (!isAllowed(uid)) return undefined
      return { count: one.count, text: combined ? `(combined from similar events): ${message}` : message, entry: one.entry }
    },
  }
}

/** @returns value of a key, created if missing; the key becomes the newest */
function kept<T>(values: Map<string, T>, key: string, make: () => T): T {
  const value = values.get(key) ?? make()
  values.delete(key)
  values.set(key, value)
  if (values.size > MOST_KEPT) values.delete(values.keys().next().value!)
  return value
}
