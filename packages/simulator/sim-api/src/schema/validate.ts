import { valueIn } from '@tranche/kube-types'
import { compilePattern } from '@tranche/cel'
import type { StatusCause } from '../model/status-error.ts'
import { matchesFormat } from './formats.ts'
import { childPath, type JsonSchema } from '../model/json-schema.ts'
import { isObject, type JsonObject } from '../model/json.ts'

/**
 * @param path of `value`; the root by default
 * @returns one cause per error, in the words of the API server
 */
export function validateAgainstSchema(schema: JsonSchema, value: unknown, path = ''): readonly StatusCause[] {
  const causes: StatusCause[] = []
  validateValue(schema, value, path, causes)
  return causes
}

function validateValue(schema: JsonSchema, value: unknown, path: string, causes: StatusCause[]): void {
  const typeFault = typeCause(schema, value, path)
  if (typeFault !== undefined) causes.push(typeFault)
  if (value === null && schema.nullable === true) return
  if (schema.enum !== undefined && !schema.enum.some((allowed) => sameJson(allowed, value)))
    causes.push(enumCause(schema.enum, value, path))
  if (typeof value === 'string') validateString(schema, value, path, causes)
  else if (typeof value === 'number') validateNumber(schema, value, path, causes)
  else if (Array.isArray(value)) validateList(schema, value, path, causes)
  else if (isObject(value)) validateRecord(schema, value, path, causes)
  if (typeFault === undefined) validateCombinations(schema, value, path, causes)
}

function typeCause(schema: JsonSchema, value: unknown, path: string): StatusCause | undefined {
  const wanted = schema['x-kubernetes-int-or-string'] === true ? 'integer,string' : schema.type
  if (wanted === undefined || (value === null && schema.nullable === true)) return undefined
  const found = typeName(value)
  const fits = wanted.split(',').includes(found) || (wanted === 'number' && found === 'integer')
  if (fits) return undefined
  const isPlain = value === null || typeof value === 'string' || Array.isArray(value)
  // Other kinds are compared by their format, which only numbers have.
  if (schema.format !== undefined && !isPlain) return typeMismatch(path, typeof value === 'number' ? 'float64' : '', schema.format)
  return typeMismatch(path, found, wanted)
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'number' && isBetween(value, int64) ? 'integer' : typeof value
}

type Range = readonly [least: number, end: number]
/** Go decodes other integers as float64. The last 512 of the range are refused too, because JavaScript rounds them to its end. */
const int64: Range = [-(2 ** 63), 2 ** 63]
const int32: Range = [-(2 ** 31), 2 ** 31]

function isBetween(value: number, [least, end]: Range): boolean {
  return Number.isInteger(value) && value >= least && value < end
}

function validateString(schema: JsonSchema, value: string, path: string, causes: StatusCause[]): void {
  const length = schema.minLength === undefined && schema.maxLength === undefined ? 0 : Array.from(value).length
  if (schema.maxLength !== undefined && length > schema.maxLength)
    causes.push({ reason: 'FieldValueTooLong', field: path, message: `Too long: may not be more than ${schema.maxLength} bytes` })
  if (length < (schema.minLength ?? 0)) causes.push(bodyCause(path, value, `should be at least ${schema.minLength} chars long`))
  if (schema.pattern !== undefined && !compilePattern(schema.pattern).test(value))
    causes.push(bodyCause(path, value, `should match '${schema.pattern}'`))
  if (schema.format !== undefined && !matchesFormat(schema.format, value)) causes.push(typeMismatch(path, value, schema.format))
}

function validateNumber(schema: JsonSchema, value: number, path: string, causes: StatusCause[]): void {
  const { type, format, minimum, maximum, multipleOf } = schema
  if (type === 'integer' && !isBetween(value, format === 'int32' ? int32 : int64)) causes.push(rangeCause(format, path))
  if (maximum !== undefined && (value > maximum || (schema.exclusiveMaximum === true && value === maximum)))
    causes.push(bodyCause(path, value, `should be less than ${schema.exclusiveMaximum === true ? '' : 'or equal to '}${maximum}`))
  if (minimum !== undefined && (value < minimum || (schema.exclusiveMinimum === true && value === minimum)))
    causes.push(bodyCause(path, value, `should be greater than ${schema.exclusiveMinimum === true ? '' : 'or equal to '}${minimum}`))
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf))
    causes.push(bodyCause(path, value, `should be a multiple of ${multipleOf}`))
}

function validateList(schema: JsonSchema, values: readonly unknown[], path: string, causes: StatusCause[]): void {
  if (values.length < (schema.minItems ?? 0)) causes.push(bodyCause(path, values.length, `should have at least ${schema.minItems} items`))
  if (schema.maxItems !== undefined && values.length > schema.maxItems) causes.push(tooMany(path, values.length, schema.maxItems))
  if (schema.items !== undefined)
    for (const [index, item] of values.entries()) validateValue(schema.items, item, `${path}[${index}]`, causes)
  validateUnique(schema, values, path, causes)
}

function validateUnique(schema: JsonSchema, values: readonly unknown[], path: string, causes: StatusCause[]): void {
  const listType = schema['x-kubernetes-list-type']
  if (listType !== 'set' && listType !== 'map') return
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const seen = new Set<string>()
  for (const [index, item] of values.entries()) {
    const identity = listType === 'set' ? item : Object.fromEntries(keys.map((key) => [key, isObject(item) ? item[key] : undefined]))
    const text = JSON.stringify(identity)
    if (seen.has(text))
      causes.push({ reason: 'FieldValueDuplicate', field: `${path}[${index}]`, message: `Duplicate value: ${valueText(identity)}` })
    seen.add(text)
  }
}

function validateRecord(schema: JsonSchema, value: JsonObject, path: string, causes: StatusCause[]): void {
  const count = Object.keys(value).length
  if (count < (schema.minProperties ?? 0)) causes.push(bodyCause(path, count, `should have at least ${schema.minProperties} properties`))
  if (schema.maxProperties !== undefined && count > schema.maxProperties) causes.push(tooMany(path, count, schema.maxProperties))
  for (const name of schema.required ?? [])
    if (valueIn(value, name) === undefined)
      causes.push({ reason: 'FieldValueRequired', field: childPath(path, name), message: 'Required value' })
  for (const [name, item] of Object.entries(value)) {
    const property = valueIn(schema.properties, name) ?? schema.additionalProperties
    if (isObject(property) && item !== undefined) validateValue(property, item, childPath(path, name), causes)
  }
}

function validateCombinations(schema: JsonSchema, value: unknown, path: string, causes: StatusCause[]): void {
  const fits = (option: JsonSchema): boolean => validateAgainstSchema(option, value, path).length === 0
  const fault = (text: string): void => {
    causes.push({ reason: 'FieldValueInvalid', field: path, message: `Invalid value: "": "${path}" must ${text}` })
  }
  for (const option of schema.allOf ?? []) validateValue(option, value, path, causes)
  if (schema.anyOf !== undefined && !schema.anyOf.some(fits)) fault('validate at least one schema (anyOf)')
  if (schema.oneOf !== undefined) {
    const fitting = schema.oneOf.filter(fits).length
    if (fitting !== 1)
      fault(`validate one and only one schema (oneOf). Found ${fitting === 0 ? 'none valid' : `${fitting} valid alternatives`}`)
  }
  if (schema.not !== undefined && fits(schema.not)) fault('not validate the schema (not)')
}

function enumCause(allowed: readonly unknown[], value: unknown, path: string): StatusCause {
  const supported = allowed.map((item) => JSON.stringify(typeof item === 'string' ? item : JSON.stringify(item))).join(', ')
  return {
    reason: 'FieldValueNotSupported',
    field: path,
    message: `Unsupported value: ${valueText(value)}: supported values: ${supported}`,
  }
}

function typeMismatch(path: string, found: string, wanted: string): StatusCause {
  const text = JSON.stringify(found)
  return {
    reason: 'FieldValueTypeInvalid',
    field: path,
    message: `Invalid value: ${text}: ${path} in body must be of type ${wanted}: ${text}`,
  }
}

/** Names its field only in its message. */
function rangeCause(format: string | undefined, path: string): StatusCause {
  const type = format === undefined ? 'integer (default format)' : `integer with format ${format}`
  return { reason: 'FieldValueInvalid', field: '<nil>', message: `Invalid value: "": Checked value must be of type ${type} in ${path}` }
}

function bodyCause(path: string, value: unknown, fault: string): StatusCause {
  return { reason: 'FieldValueInvalid', field: path, message: `Invalid value: ${valueText(value)}: ${path} in body ${fault}` }
}

function tooMany(path: string, count: number, limit: number): StatusCause {
  return { reason: 'FieldValueTooMany', field: path, message: `Too many: ${count}: must have at most ${limit} items` }
}

function valueText(value: unknown): string {
  return JSON.stringify(value) ?? 'null'
}

/** Whether two JSON values are the same; the order of members counts. */
export function sameJson(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}
