const durationPattern = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/
const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const
const LONGEST_MS = 10_000 * unitMs.h
/** Maximum length of the text of a duration, in characters. */
const LONGEST_DURATION = 64

/** @returns milliseconds of a duration such as `500ms`, `30s` or `1m30s`; NaN if `text` is not a duration or is above 10,000 hours */
export function durationMs(text: string): number {
  if (text.length > LONGEST_DURATION || !durationPattern.test(text)) return Number.NaN
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)]
  const ms = parts.reduce((sum, [, number, unit]) => sum + Number(number) * unitMs[unit as keyof typeof unitMs], 0)
  return ms <= LONGEST_MS ? ms : Number.NaN
}

/** @returns milliseconds of a duration with or without a sign; NaN as {@link durationMs} */
export function signedDurationMs(text: string): number {
  return text.startsWith('-') ? -durationMs(text.slice(1)) : durationMs(text)
}
