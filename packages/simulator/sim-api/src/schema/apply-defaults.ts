import { valueIn } from '@tranche/kube-types'
import type { JsonSchema } from '../model/json-schema.ts'
import { isObject, type JsonObject } from '../model/json.ts'

/** @returns `value` with the schema's defaults for missing fields; the same value when none was missing */
export function applyDefaults(schema: JsonSchema, value: unknown): unknown {
  if (Array.isArray(value)) return schema.items === undefined ? value : mapChanged(value, schema.items)
  if (!isObject(value)) return value
  let result: Record<string, unknown> | undefined
  const set = (name: string, next: unknown): void => {
    if (next !== valueIn(value, name)) (result ??= { ...value })[name] = next
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) set(name, defaulted(property, valueIn(value, name)))
  for (const [name, property] of additionalProperties(schema, value)) set(name, applyDefaults(property, value[name]))
  return result ?? value
}

function defaulted(property: JsonSchema, value: unknown): unknown {
  const missing = value === undefined || (value === null && property.nullable !== true && property.default !== undefined)
  if (!missing) return applyDefaults(property, value)
  return property.default === undefined ? value : applyDefaults(property, structuredClone(property.default))
}

function additionalProperties(schema: JsonSchema, value: JsonObject): (readonly [name: string, schema: JsonSchema])[] {
  const additional = schema.additionalProperties
  if (additional === undefined || typeof additional === 'boolean') return []
  return Object.keys(value)
    .filter((name) => valueIn(schema.properties, name) === undefined)
    .map((name) => [name, additional])
}

function mapChanged(values: readonly unknown[], schema: JsonSchema): readonly unknown[] {
  const next = values.map((value) => applyDefaults(schema, value))
  return next.some((value, index) => value !== values[index]) ? next : values
}
