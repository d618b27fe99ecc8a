import { canonicalQuantity, valueIn } from '@tranche/kube-types'
import { type Definition, definitionOf, type FieldType, type ScalarType } from './builtin-definitions.ts'
import { isObject, type JsonObject, mapList, mapValues } from '../model/json.ts'
import { childPath } from '../model/json-schema.ts'

/** Result of decoding an object as a built-in kind. */
export interface Decoded {
  /** Object without unknown fields, nulls and empty optional lists and maps. */
  readonly object: JsonObject
  /** Paths of unknown fields: `spec.template.spec.containers[0].foo`. */
  readonly unknownFields: readonly string[]
  /** First type error, in the words of the API server; the object must then be rejected with 400. */
  readonly typeError?: string
}

interface Walk {
  readonly unknownFields: string[]
  typeError: string | undefined
}

/** Position of a value: `path` with list indexes, `field` without, for the two messages; `struct` is the enclosing type. */
interface Place {
  readonly path: string
  readonly field: string
  readonly struct: string
}

/**
 * Decodes an object as the given definition: unknown fields are dropped and reported, type errors are errors.
 *
 * @param definition name such as `apps/v1.DaemonSet`
 * @param known object that was decoded as the same definition; parts that it shares with `object` are not decoded again
 */
export function decodeBuiltin(definition: string, object: JsonObject, known?: JsonObject): Decoded {
  const walk: Walk = { unknownFields: [], typeError: undefined }
  const decoded = decodeFields(definitionOf(definition), { value: object, known }, { path: '', field: '', struct: '' }, walk)
  return { object: decoded, unknownFields: walk.unknownFields, ...(walk.typeError !== undefined && { typeError: walk.typeError }) }
}

/** Value to decode, and the decoded one previously in its place. */
interface Reading<T = unknown> {
  readonly value: T
  readonly known: unknown
}

/** @returns the same object when nothing is dropped */
function decodeFields(definition: Definition, { value: object, known }: Reading<JsonObject>, at: Place, walk: Walk): JsonObject {
  const decoded: Record<string, unknown> = {}
  let isSame = true
  for (const name of Object.keys(object)) {
    const value = object[name]
    const result = decodeField(definition, name, { value, known: isObject(known) ? valueIn(known, name) : undefined }, { at, walk })
    if (result !== value || result === undefined) isSame = false
    if (result !== undefined) decoded[name] = result
  }
  return isSame ? object : decoded
}

/** @returns value of the field; undefined when it is dropped */
function decodeField(definition: Definition, name: string, { value, known }: Reading, { at, walk }: { at: Place; walk: Walk }): unknown {
  const field = definition.fields.get(name)
  if (field === undefined) {
    if (!isServersOwn(definition, name)) walk.unknownFields.push(childPath(at.path, name))
    return undefined
  }
  if (value === null || value === undefined) return undefined
  const result = value === known ? value : decodeValue(field.type, { value, known }, placeOf(definition, name, at), walk)
  return field.required || !isEmptyContainer(field.type, result) ? result : undefined
}

function placeOf({ name: definition }: Definition, name: string, at: Place): Place {
  return { path: childPath(at.path, name), field: childPath(at.field, name), struct: goName(definition) }
}

/** `selfLink` is still a field of the types, but no longer in their description. */
function isServersOwn(definition: Definition, name: string): boolean {
  return definition.name === 'meta/v1.ObjectMeta' && name === 'selfLink'
}

/** Drops optional lists and maps without entries, like the API server. */
function isEmptyContainer(type: FieldType, value: unknown): boolean {
  if (type.kind === 'list') return Array.isArray(value) && value.length === 0
  return type.kind === 'map' && isObject(value) && Object.keys(value).length === 0
}

function decodeValue(type: FieldType, { value, known }: Reading, at: Place, walk: Walk): unknown {
  if (value === known && value !== null) return value
  switch (type.kind) {
    case 'scalar':
      return decodeScalar(type.scalar, value, at, walk)
    case 'list': {
      if (!Array.isArray(value)) return refuse(type, value, at, walk)
      const before: readonly unknown[] = Array.isArray(known) ? known : []
      const item = (one: unknown, index: number): unknown =>
        decodeValue(type.of, { value: one, known: before[index] }, { ...at, path: `${at.path}[${index}]` }, walk)
      return mapList(value as readonly unknown[], item)
    }
    case 'map': {
      if (!isObject(value)) return refuse(type, value, at, walk)
      const before = isObject(known) ? known : {}
      return mapValues(value, (one, key) =>
        decodeValue(type.of, { value: one, known: valueIn(before, key) }, { ...at, path: childPath(at.path, key) }, walk),
      )
    }
    case 'definition':
      if (value === null) return {}
      if (!isObject(value)) return refuse(type, value, at, walk)
      return decodeFields(definitionOf(type.definition), { value, known }, at, walk)
  }
}

function decodeScalar(scalar: ScalarType, value: unknown, at: Place, walk: Walk): unknown {
  if (scalar === 'any') return value
  if (value === null) return scalar === 'string' ? '' : value
  if (scalar === 'quantity' && typeof value === 'number') return canonicalQuantity(String(value))
  const reason = scalarFault(scalar, value)
  if (reason === undefined) return scalar === 'quantity' ? canonicalQuantity(value as string) : value
  walk.typeError ??= reason === 'type' ? typeFault({ kind: 'scalar', scalar }, value, at) : reason
  return value
}

/** @returns undefined when the value fits, `type` for the general message, else the message */
function scalarFault(scalar: ScalarType, value: unknown): string | undefined {
  switch (scalar) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'type'
    case 'int32':
      return isInteger(value, 2 ** 31) ? undefined : 'type'
    case 'int64':
      return isInteger(value, 2 ** 63) ? undefined : 'type'
    case 'number':
      return typeof value === 'number' ? undefined : 'type'
    case 'int-or-string':
      return typeof value === 'string' || isInteger(value, 2 ** 31) ? undefined : 'type'
    case 'time':
    case 'micro-time':
      return timeFault(scalar, value)
    case 'quantity':
      return typeof value === 'string' && quantityPattern.test(value) ? undefined : quantityFault
    case 'bytes':
      return bytesFault(value)
    default:
      return typeof value === 'string' ? undefined : 'type'
  }
}

const quantityPattern = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+|[numkMGTPE]|[KMGTPE]i)?$/
const quantityFault = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/
const base64Pattern = /^(?:[A-Za-z0-9+/\r\n]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?[\r\n]*$/

function timeFault(scalar: ScalarType, value: unknown): string | undefined {
  if (typeof value !== 'string') return 'type'
  if (timePattern.test(value) && !Number.isNaN(Date.parse(value))) return undefined
  const layout = scalar === 'time' ? '2006-01-02T15:04:05Z07:00' : '2006-01-02T15:04:05.000000Z07:00'
  return `parsing time ${JSON.stringify(value)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(value)} as "2006"`
}

function bytesFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'type'
  if (base64Pattern.test(value)) return undefined
  const index = value.search(/[^A-Za-z0-9+/\r\n]/)
  return `illegal base64 data at input byte ${index === -1 ? value.length - (value.length % 4) : index}`
}

function isInteger(value: unknown, limit: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= -limit && value < limit
}

function refuse(type: FieldType, value: unknown, at: Place, walk: Walk): unknown {
  if (value === null) return value
  walk.typeError ??= typeFault(type, value, at)
  return value
}

function typeFault(type: FieldType, value: unknown, at: Place): string {
  return `json: cannot unmarshal ${jsonWord(value, type)} into Go struct field ${at.struct}.${at.field} of type ${goType(type)}`
}

function jsonWord(value: unknown, type: FieldType): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return type.kind === 'scalar' && type.scalar.startsWith('int') ? `number ${value}` : 'number'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

const goScalars: Readonly<Record<ScalarType, string>> = {
  string: 'string',
  boolean: 'bool',
  int32: 'int32',
  int64: 'int64',
  number: 'float64',
  bytes: '[]uint8',
  time: 'string',
  'micro-time': 'string',
  quantity: 'resource.Quantity',
  'int-or-string': 'int32',
  any: 'interface {}',
}

function goType(type: FieldType): string {
  switch (type.kind) {
    case 'scalar':
      return goScalars[type.scalar]
    case 'list':
      return `[]${goType(type.of)}`
    case 'map':
      return `map[string]${goType(type.of)}`
    case 'definition':
      return `v1.${goName(type.definition)}`
  }
}

function goName(definition: string): string {
  return definition.slice(definition.indexOf('.') + 1)
}
