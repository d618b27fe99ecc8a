import type { FieldValidation, RequestOptions } from '../core/request.ts'
import { ApiStatusError } from '../status-error.ts'

/**
 * Reads query parameters as the API server does.
 *
 * @throws {ApiStatusError} 400 for a number that is none, 422 for a word that is not among those allowed
 */
export function readRequestOptions(query: URLSearchParams): RequestOptions {
  const options: Record<string, unknown> = { fieldValidation: readFieldValidation(query), dryRun: readDryRun(query) }
  for (const name of textParameters) if (query.has(name)) options[name] = query.get(name)
  for (const name of numberParameters) if (query.has(name)) options[name] = readNumber(name, query.get(name)!)
  for (const name of flagParameters) if (query.has(name)) options[name] = readFlag(query.get(name)!)
  return options
}

const textParameters = [
  'fieldManager',
  'resourceVersion',
  'resourceVersionMatch',
  'continue',
  'labelSelector',
  'fieldSelector',
  'propagationPolicy',
]
const numberParameters = ['limit', 'timeoutSeconds', 'gracePeriodSeconds']
const flagParameters = ['allowWatchBookmarks', 'sendInitialEvents', 'orphanDependents']

/** @returns whether a flag in a query is set; a flag without a value is */
export function readFlag(value: string): boolean {
  return value === '' || value === '1' || value.toLowerCase() === 'true'
}

function readFieldValidation(query: URLSearchParams): FieldValidation {
  const value = query.get('fieldValidation') ?? ''
  if (value === '') return 'Warn'
  if (value === 'Ignore' || value === 'Warn' || value === 'Strict') return value
  throw unsupported('fieldValidation', value, ['Ignore', 'Strict', 'Warn'])
}

function readDryRun(query: URLSearchParams): boolean {
  const wrong = query.getAll('dryRun').find((value) => value !== 'All' && value !== '')
  if (wrong !== undefined) throw unsupported('dryRun', wrong, ['All'])
  return query.getAll('dryRun').includes('All')
}

function readNumber(name: string, value: string): number {
  if (/^-?\d+$/.test(value)) return Number(value)
  throw new ApiStatusError(400, 'BadRequest', `${name}: strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`)
}

function unsupported(field: string, value: string, allowed: readonly string[]): ApiStatusError {
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${allowed.map((word) => JSON.stringify(word)).join(', ')}`
  const details = { group: 'meta.k8s.io', kind: 'Options', causes: [{ reason: 'FieldValueNotSupported', message, field }] }
  return new ApiStatusError(422, 'Invalid', `Options.meta.k8s.io "" is invalid: ${field}: ${message}`, details)
}
