import { invalid } from './option-values.ts'

const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/**
 * Reads the namespace of the Lease of controllers.
 *
 * @returns undefined without `--lease-namespace`
 * @throws {AppError} OPTION_INVALID
 */
export function toLeaseNamespace(value: unknown): string | undefined {
  return typeof value === 'string' ? parseNamespace('--lease-namespace', value) : undefined
}

/**
 * @param option as written on the command line: `--namespace`
 * @throws {AppError} OPTION_INVALID when `value` cannot be the name of a namespace
 */
export function parseNamespace(option: string, value: string): string {
  if (!NAMESPACE.test(value)) throw invalid(option, value, 'give the name of a namespace')
  return value
}
