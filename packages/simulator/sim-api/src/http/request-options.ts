import { valueIn } from '@tranche/kube-types'
import type { FieldValidation, RequestOptions } from '../model/request.ts'
import { invalidObject } from '../model/errors.ts'
import { invalid, notAllowed, notSupported, required, tooLong } from '../model/field-errors.ts'
import { ApiStatusError, type StatusCause } from '../model/status-error.ts'
import type { IncludeObject } from './tables/table.ts'

/** Kinds under which invalid parameters of a write are reported. */
const optionKinds: Readonly<Record<string, string>> = {
  POST: 'CreateOptions',
  PUT: 'UpdateOptions',
  PATCH: 'PatchOptions',
  DELETE: 'DeleteOptions',
}

/**
 * Parses query parameters as the API server does.
 *
 * @param method of the request
 * @throws {ApiStatusError} 400 for an invalid number, 422 for a value that is not allowed
 */
export function readRequestOptions(query: URLSearchParams, method: string): RequestOptions {
  const kind = valueIn(optionKinds, method) ?? 'ListOptions'
  const options: Record<string, unknown> = { fieldValidation: readFieldValidation(query, kind), dryRun: readDryRun(query, kind) }
  refuseManager(query.get('fieldManager') ?? '', kind)
  for (const name of textParameters) if (query.has(name)) options[name] = query.get(name)
  for (const name of numberParameters) if (query.has(name)) options[name] = readNumber(query.get(name)!)
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
const flagParameters = ['allowWatchBookmarks', 'sendInitialEvents', 'orphanDependents', 'force']

/** @throws {ApiStatusError} 422 when `force` is set on a patch other than apply */
export function refuseForce(query: URLSearchParams): void {
  if (query.has('force')) throw refused('PatchOptions', notAllowed('force', 'may not be specified for non-apply patch'))
}

/** @throws {ApiStatusError} 422 when an apply patch has no field manager */
export function requireManager({ fieldManager }: RequestOptions): void {
  if (!fieldManager) throw refused('PatchOptions', required('fieldManager', 'is required for apply patch'))
}

function refuseManager(name: string, kind: string): void {
  if (Buffer.byteLength(name) > LONGEST_MANAGER) throw refused(kind, tooLong('fieldManager', LONGEST_MANAGER))
  const unprintable = [...name.matchAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu)].map(({ 0: character, index }) =>
    invalid('fieldManager', name, `invalid character ${codePoint(character)} (at position ${Buffer.byteLength(name.slice(0, index))})`),
  )
  if (unprintable.length > 0) throw refused(kind, ...unprintable)
}

const LONGEST_MANAGER = 128

function codePoint(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}

/** @returns whether a query flag is set: any value except `false` and `0` sets it */
export function readFlag(value: string): boolean {
  return value !== '0' && value.toLowerCase() !== 'false'
}

/**
 * @returns content of a Table's rows
 * @throws {ApiStatusError} 400 for a value that is not allowed
 */
export function readIncludeObject(value: string): IncludeObject {
  if (value === '') return 'Metadata'
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value
  const why = `includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`
  throw new ApiStatusError(400, 'BadRequest', `Unable to convert to Table as requested: ${why}`)
}

function readFieldValidation(query: URLSearchParams, kind: string): FieldValidation {
  const value = query.get('fieldValidation') ?? ''
  if (value === '') return 'Warn'
  if (value === 'Ignore' || value === 'Warn' || value === 'Strict') return value
  throw refused(kind, notSupported('fieldValidation', value, ['', 'Ignore', 'Strict', 'Warn']))
}

function readDryRun(query: URLSearchParams, kind: string): boolean {
  const values = query.getAll('dryRun')
  if (values.some((value) => value !== 'All' && value !== '')) throw refused(kind, notSupported('dryRun', values, ['All']))
  return values.includes('All')
}

function readNumber(value: string): number {
  if (/^-?\d+$/.test(value)) return Number(value)
  throw new ApiStatusError(400, 'BadRequest', `strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`)
}

function refused(kind: string, ...causes: readonly StatusCause[]): ApiStatusError {
  return invalidObject({ group: 'meta.k8s.io', kind }, '', causes)
}
