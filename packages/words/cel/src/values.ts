import { Optional } from '@marcbachmann/cel-js'
import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator'
import type { CelType } from './cel-type.ts'
import { celFieldName } from './field-names.ts'
import { parseDuration } from './libraries/durations.ts'

/** Object type of the library. */
export interface ObjectClass {
  readonly typeName: string
  readonly ctor: new () => object
}

/** Object types that are registered with the library. */
export type ObjectClasses = Map<CelType, ObjectClass>

/** @returns a JSON value in the form of expressions. A value of the wrong type stays unchanged, so that the expression fails on it */
export function toCelValue(classes: ObjectClasses, type: CelType, value: unknown): unknown {
  if (type.kind === 'optional') return value === undefined ? Optional.none() : Optional.of(toCelValue(classes, type.of, value))
  if (value === undefined || value === null) return value
  switch (type.kind) {
    case 'int':
      return Number.isInteger(value) ? BigInt(value as number) : value
    case 'uint':
      return Number.isInteger(value) ? new UnsignedInt(BigInt(value as number)) : value
    case 'bytes':
      return typeof value === 'string' ? Uint8Array.from(atob(value), (letter) => letter.charCodeAt(0)) : value
    case 'timestamp':
      return typeof value === 'string' ? new Date(value) : value
    case 'duration':
      return typeof value === 'string' ? durationOf(value) : value
    case 'list':
      return Array.isArray(value) ? value.map((item) => toCelValue(classes, type.of, item)) : value
    case 'map':
      return isRecord(value) ? new Map(Object.entries(value).map(([key, item]) => [key, toCelValue(classes, type.of, item)])) : value
    case 'object':
      return isRecord(value) ? objectValue(classes, type, value) : value
    case 'dyn':
      return dynValue(value)
    default:
      return value
  }
}

function objectValue(
  classes: ObjectClasses,
  type: CelType & { readonly kind: 'object' },
  value: Readonly<Record<string, unknown>>,
): object {
  const object = new (classes.get(type)!.ctor)()
  for (const [name, fieldType] of Object.entries(type.fields)) {
    const named = celFieldName(name)
    const field = Object.hasOwn(value, name) ? value[name] : undefined
    if (named !== undefined && field !== undefined && field !== null)
      Object.defineProperty(object, named, { value: toCelValue(classes, fieldType, field), enumerable: true })
  }
  return object
}

function dynValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value
  if (Array.isArray(value)) return value.map(dynValue)
  if (isRecord(value)) return new Map(Object.entries(value).map(([key, item]) => [key, dynValue(item)]))
  return value
}

function durationOf(text: string): Duration | string {
  const nanos = parseDuration(text)
  return nanos === undefined ? text : new Duration(nanos / 1_000_000_000n, Number(nanos % 1_000_000_000n))
}

/** Results of other expressions, such as optional values, need no conversion. */
function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
