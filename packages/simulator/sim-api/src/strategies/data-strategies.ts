import type { ApiObject } from '../model/client.ts'
import { jsonEqual, objectOrEmpty } from '../model/json.ts'
import type { StatusCause } from '../model/status-error.ts'
import { invalid, notAllowed, tooLong } from '../model/field-errors.ts'
import type { Strategy } from '../model/resource-definition.ts'
import { plainStrategy } from './strategies.ts'

/** Maximum total size of the values of one ConfigMap or Secret, in bytes. */
const LARGEST_DATA = 1024 * 1024

/** ConfigMaps: keys must be valid file names, at most 1 MiB in total; an immutable one cannot change. */
export const configMapStrategy: Strategy = {
  ...plainStrategy,
  validate: configMapCauses,
  validateUpdate: immutableDataCauses,
}

/** Secrets: like ConfigMaps; the default type is Opaque, and `stringData` is merged into `data`. */
export const secretStrategy: Strategy = {
  ...plainStrategy,
  selectableFields: { type: (object) => String(object['type'] ?? '') },
  defaults: (object) => withStringData({ ...object, type: object['type'] || 'Opaque' }),
  validate: secretCauses,
  validateUpdate: (object, old) => [
    ...(object['type'] === old['type'] ? [] : [invalid('type', object['type'], 'field is immutable')]),
    ...immutableDataCauses(object, old),
  ],
}

function configMapCauses(object: ApiObject): readonly StatusCause[] {
  const data = objectOrEmpty(object['data'])
  const binaryData = objectOrEmpty(object['binaryData'])
  const inBoth = Object.keys(data).filter((key) => Object.hasOwn(binaryData, key))
  const size = sizeOf(data, Buffer.byteLength) + sizeOf(binaryData, decodedLength)
  return [
    ...keyCauses('data', data),
    ...inBoth.map((key) => invalid(`data[${key}]`, key, 'duplicate of key present in binaryData')),
    ...keyCauses('binaryData', binaryData),
    ...(size > LARGEST_DATA ? [tooLong('[]', LARGEST_DATA)] : []),
  ]
}

function secretCauses(object: ApiObject): readonly StatusCause[] {
  const data = objectOrEmpty(object['data'])
  return [...keyCauses('data', data), ...(sizeOf(data, decodedLength) > LARGEST_DATA ? [tooLong('data', LARGEST_DATA)] : [])]
}

const BAD_KEY =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"

function keyCauses(field: string, data: object): readonly StatusCause[] {
  return Object.keys(data).flatMap((key) => {
    if (!/^[-._a-zA-Z0-9]+$/.test(key)) return [invalid(`${field}[${key}]`, key, BAD_KEY)]
    if (key.length > 253) return [invalid(`${field}[${key}]`, key, 'must be no more than 253 bytes')]
    return key === '.' || key.startsWith('..') ? [invalid(`${field}[${key}]`, key, "must not be '.' or start with '..'")] : []
  })
}

function sizeOf(data: object, measure: (value: string) => number): number {
  return Object.values(data).reduce((sum: number, value) => sum + (typeof value === 'string' ? measure(value) : 0), 0)
}

function decodedLength(base64: string): number {
  return Buffer.byteLength(base64, 'base64')
}

function withStringData(object: ApiObject): ApiObject {
  const { stringData, ...rest } = object
  if (stringData === undefined) return object
  const encoded = Object.entries(objectOrEmpty(stringData)).map(([key, text]) => [key, Buffer.from(String(text)).toString('base64')])
  return { ...(rest as ApiObject), data: { ...objectOrEmpty(object['data']), ...Object.fromEntries(encoded) } }
}

function immutableDataCauses(object: ApiObject, old: ApiObject): readonly StatusCause[] {
  if (old['immutable'] !== true) return []
  return ['immutable', 'data', 'binaryData']
    .filter((field) => !jsonEqual(object[field], old[field]))
    .map((field) => notAllowed(field, 'field is immutable when `immutable` is set'))
}
