import type { EventReport } from '@tranche/api-schema'

/** @returns a key for each event, different for events that look the same */
export function eventKeys(events: readonly EventReport[]): readonly string[] {
  const seen = new Map<string, number>()
  return events.map(({ at, reason, object, message }) => {
    const text = JSON.stringify([at, reason, object, message])
    const before = seen.get(text) ?? 0
    seen.set(text, before + 1)
    return `${text} ${before}`
  })
}
