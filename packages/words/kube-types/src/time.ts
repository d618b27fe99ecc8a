/** RFC 3339 as the API server and Tranche write it: date, time with up to nine decimals, offset. */
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** Last moment that RFC 3339 can write, in epoch milliseconds. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/**
 * Reads a time of an object. It is the only parser of such times. API servers accept texts as `date-time` that are no time, such as
 * `2026-01-01T00:00:00x0Z`. Anyone who may write a status or an annotation can put them there.
 *
 * @param text RFC 3339; any other value counts as absent
 * @returns epoch milliseconds; null for an absent or invalid time, never NaN
 */
export function parseTime(text: unknown): number | null {
  if (typeof text !== 'string' || !RFC_3339.test(text)) return null
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? null : ms
}

/**
 * Writes a time that was computed from times of an object. A moment outside of the years 1970 to 9999 becomes the nearest one inside.
 *
 * @param ms epoch milliseconds
 * @returns RFC 3339 with milliseconds, in UTC
 */
export function timeText(ms: number): string {
  return new Date(Math.min(Math.max(ms, 0), LAST_MS)).toISOString()
}
