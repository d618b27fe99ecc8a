import { invalid, type NumberRange } from '@tranche/cli'

/** Range in milliseconds from which the delay of each watch event is drawn. */
export interface DelayRange {
  readonly min: number
  readonly max: number
}

const LONGEST_WATCH_DELAY_MS = 60_000

/** @throws {AppError} OPTION_INVALID when `value` is not a decimal number in the range */
export function parseDecimal(option: string, value: string, { min, max }: NumberRange): number {
  const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN
  if (!(number >= min && number <= max)) throw invalid(option, value, `give a number from ${min} to ${max}, such as 2 or 0.5`)
  return number
}

/**
 * Reads `MAX` or `MIN-MAX`.
 *
 * @throws {AppError} OPTION_INVALID when `value` is neither, or the range is empty or too long
 */
export function parseDelayRange(option: string, value: string): DelayRange {
  const [, first, second] = /^(\d+)(?:-(\d+))?$/.exec(value) ?? []
  const range = second === undefined ? { min: 0, max: Number(first) } : { min: Number(first), max: Number(second) }
  if (first === undefined || range.min > range.max || range.max > LONGEST_WATCH_DELAY_MS)
    throw invalid(option, value, `give milliseconds as MAX or MIN-MAX, at most ${LONGEST_WATCH_DELAY_MS}, such as 20 or 5-50`)
  return range
}
