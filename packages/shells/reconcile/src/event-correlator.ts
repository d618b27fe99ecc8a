import type { Clock } from '@tranche/clock'
import { LRUCache } from 'lru-cache'
import type { CoreEvent } from './event-recorder.ts'

/** Write for something that happened. */
export type EventWrite =
  | { readonly kind: 'create'; readonly event: CoreEvent }
  /** The event exists already: its count, message and last time change. */
  | { readonly kind: 'repeat'; readonly event: CoreEvent }
  /** Too many events about one object. */
  | { readonly kind: 'drop' }

/**
 * Limits repeated events, by the rules of Kubernetes' own programs (client-go, EventCorrelator). Per object, at most 25 events in a burst
 * and one more every 5 minutes. A repeated event increments the count of the existing one. From the eleventh message about one object for
 * one reason within 10 minutes on, one event stands for all of them.
 */
export interface EventCorrelator {
  /** @param event a new event, with its own name */
  correlate(event: CoreEvent): EventWrite
  /** Records the stored event from the response to a write. */
  stands(event: CoreEvent): void
}

/** Maximum number of objects, reasons and events that are remembered each; the least recently used are forgotten first. */
const REMEMBERED = 4_096
const BURST = 25
const REFILL_MS = 300_000
const MOST_MESSAGES = 10
const SIMILAR_WITHIN_MS = 600_000
/** Prefix of the message of an event that stands for several. */
export const COMBINED_PREFIX = '(combined from similar events): '

/** @returns an empty correlator */
export function createEventCorrelator(clock: Clock): EventCorrelator {
  const budgets = new LRUCache<string, Budget>({ max: REMEMBERED })
  const similar = new LRUCache<string, Similar>({ max: REMEMBERED })
  const standing = new LRUCache<string, CoreEvent>({ max: REMEMBERED })

  function correlate(event: CoreEvent): EventWrite {
    const group = combine(event)
    if (!spend(objectKey(event))) return { kind: 'drop' }
    const known = standing.get(group.key)
    if (known === undefined) return { kind: 'create', event: { ...event, message: group.message } }
    const { lastTimestamp } = event
    return { kind: 'repeat', event: { ...known, message: group.message, count: known.count + 1, lastTimestamp } }
  }

  /** @returns the key and message of the event: its own, or those of similar events that differ only in text */
  function combine(event: CoreEvent): { readonly key: string; readonly message: string } {
    const reasonKey = JSON.stringify([objectKey(event), event.type, event.reason])
    const nowMs = clock.monotonicMs()
    const last = similar.get(reasonKey)
    const messages = last !== undefined && nowMs - last.atMs <= SIMILAR_WITHIN_MS ? last.messages : new Set<string>()
    similar.set(reasonKey, { atMs: nowMs, messages })
    if (!messages.has(event.message) && messages.size >= MOST_MESSAGES) return { key: reasonKey, message: COMBINED_PREFIX + event.message }
    messages.add(event.message)
    return { key: JSON.stringify([reasonKey, event.message]), message: event.message }
  }

  function spend(key: string): boolean {
    const nowMs = clock.monotonicMs()
    const last = budgets.get(key) ?? { atMs: nowMs, left: BURST }
    const left = Math.min(BURST, last.left + (nowMs - last.atMs) / REFILL_MS)
    budgets.set(key, { atMs: nowMs, left: left >= 1 ? left - 1 : left })
    return left >= 1
  }

  return {
    correlate,
    stands: (event) => void standing.set(standingKey(event), event),
  }
}

interface Budget {
  readonly atMs: number
  /** Remaining tokens of the object's rate limit; may be fractional. */
  readonly left: number
}

interface Similar {
  readonly atMs: number
  /** Different messages within the last ten minutes, at most {@link MOST_MESSAGES}. */
  readonly messages: Set<string>
}

function objectKey({ involvedObject: { apiVersion, kind, namespace, name, uid } }: CoreEvent): string {
  return JSON.stringify([apiVersion, kind, namespace, name, uid])
}

function standingKey(event: CoreEvent): string {
  const reasonKey = JSON.stringify([objectKey(event), event.type, event.reason])
  return event.message.startsWith(COMBINED_PREFIX) ? reasonKey : JSON.stringify([reasonKey, event.message])
}
