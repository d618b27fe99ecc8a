import { valueIn } from '@tranche/kube-types'
import type { CelType } from '@tranche/cel'
import type { JsonSchema } from '../../model/json-schema.ts'

/**
 * @param isRoot whether the schema is that of a whole object, which always has `apiVersion`, `kind` and `metadata`
 * @returns CEL type of the schema
 */
export function celTypeOf(schema: JsonSchema, isRoot = false): CelType {
  if (schema['x-kubernetes-int-or-string'] === true) return { kind: 'dyn' }
  switch (schema.type) {
    case 'object':
      return objectType(schema, isRoot)
    case 'array':
      return { kind: 'list', of: celTypeOf(schema.items ?? {}), ...(schema.maxItems !== undefined && { maxSize: schema.maxItems }) }
    case 'string':
      return stringType(schema)
    case 'boolean':
      return { kind: 'bool' }
    case 'integer':
      return { kind: 'int' }
    case 'number':
      return { kind: 'double' }
    default:
      return { kind: 'dyn' }
  }
}

function objectType(schema: JsonSchema, isRoot: boolean): CelType {
  const additional = schema.additionalProperties
  if (typeof additional === 'object')
    return { kind: 'map', of: celTypeOf(additional), ...(schema.maxProperties !== undefined && { maxSize: schema.maxProperties }) }
  const fields: Record<string, CelType> = isRoot || schema['x-kubernetes-embedded-resource'] === true ? { ...rootFields } : {}
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    if (valueIn(fields, name) === undefined) fields[name] = celTypeOf(property)
  return { kind: 'object', fields }
}

const name: CelType = { kind: 'string', maxSize: 253 }

const rootFields: Readonly<Record<string, CelType>> = {
  apiVersion: name,
  kind: name,
  metadata: { kind: 'object', fields: { name, generateName: name } },
}

function stringType({ format, maxLength, enum: allowed }: JsonSchema): CelType {
  switch (format) {
    case 'byte':
      return { kind: 'bytes' }
    case 'duration':
      return { kind: 'duration' }
    case 'date':
    case 'date-time':
      return { kind: 'timestamp' }
    default: {
      const longest = allowed === undefined ? maxLength : Math.max(...allowed.map((value) => String(value).length))
      return { kind: 'string', ...(longest !== undefined && { maxSize: longest }) }
    }
  }
}
