import { invalid } from './option-values.ts'

/** Option values of the parser: strings, booleans, lists or undefined. */
export type Values = Readonly<Record<string, unknown>>

/** @returns the value of an option; undefined if it is not given */
export function textOf(values: Values, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

/** @returns the values of an option that may be given again */
export function textsOf(values: Values, name: string): readonly string[] {
  const value = values[name]
  return Array.isArray(value) ? value.map(String) : []
}

/**
 * @param option as written on the command line: `--kubeconfig`
 * @returns the path of a file; undefined if it is not given
 * @throws {AppError} OPTION_INVALID when it is empty
 */
export function pathOf(values: Values, name: string, option: string): string | undefined {
  const value = textOf(values, name)
  if (value === '') throw invalid(option, value, 'give the path of a file')
  return value
}
