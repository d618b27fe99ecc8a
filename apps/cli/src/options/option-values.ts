import { AppError } from '@tranche/errors'

/** Inclusive bounds of a number. */
export interface NumberRange {
  readonly min: number
  readonly max: number
}

/**
 * @param option as written on the command line: `--nodes`
 * @throws {AppError} OPTION_INVALID when `value` is not a whole number in the range
 */
export function parseWhole(option: string, value: string, { min, max }: NumberRange): number {
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
  if (!(number >= min && number <= max)) throw invalid(option, value, `give a whole number from ${min} to ${max}`)
  return number
}

/** @throws {AppError} OPTION_INVALID when `value` is none of `choices` */
export function parseChoice<T extends string>(option: string, value: string, choices: readonly T[]): T {
  const choice = choices.find((one) => one === value)
  if (choice === undefined) throw invalid(option, value, `give ${choices.join(' or ')}`)
  return choice
}

/** @returns the error OPTION_INVALID for a value that is not allowed */
export function invalid(option: string, value: string, fix: string): AppError {
  return new AppError('OPTION_INVALID', `${option} does not take ${JSON.stringify(value)}`, {
    details: { option, value },
    hint: sentence(fix),
  })
}

/** @returns the error OPTION_INVALID for an option that is missing another, or conflicts with one */
export function misplaced(option: string, why: string, fix: string): AppError {
  return new AppError('OPTION_INVALID', `${option} ${why}`, { details: { option }, hint: sentence(fix) })
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
