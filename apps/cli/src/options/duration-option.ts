import { invalid } from './option-values.ts'

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const LONGEST_MS = 365 * unitMs.d

/**
 * Reads `90s`, `10m`, `1h30m`, or whole seconds, as kubectl does.
 *
 * @param option as written on the command line: `--timeout`
 * @returns milliseconds, from 0 to a year
 * @throws {AppError} OPTION_INVALID
 */
export function parseDurationOption(option: string, value: string): number {
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : sumOf(value)
  if (!(ms >= 0 && ms <= LONGEST_MS)) throw invalid(option, value, 'give a time such as 90s, 10m or 1h30m')
  return ms
}

function sumOf(value: string): number {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(value)) return Number.NaN
  return [...value.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * unitMs[unit as keyof typeof unitMs],
    0,
  )
}
