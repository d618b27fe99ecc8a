import { z } from 'zod'
import { KNOWN_VALUES } from './fields.ts'

/** CEL validation rule of a schema node; `self` is the node's value. @see apiextensions/v1 ValidationRule */
export interface CelRule {
  readonly rule: string
  readonly message: string
}

/** Schema of a custom resource that an API server accepts. @see apiextensions/v1 JSONSchemaProps */
export interface StructuralSchema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  readonly description?: string
  readonly format?: string
  readonly default?: unknown
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly maxLength?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, StructuralSchema>>
  readonly additionalProperties?: StructuralSchema
  readonly items?: StructuralSchema
  readonly anyOf?: readonly { readonly type: string }[]
  readonly 'x-kubernetes-int-or-string'?: true
  readonly 'x-kubernetes-preserve-unknown-fields'?: true
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-validations'?: readonly CelRule[]
}

type JsonSchema = Readonly<Record<string, unknown>>

/** Keywords that are copied unchanged from Zod's JSON schema. */
const plainKeywords = [
  'description',
  'type',
  'format',
  'default',
  'enum',
  'maxItems',
  'maxProperties',
  'maxLength',
  'required',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-validations',
] as const

/**
 * Converts a Zod schema to a structural schema. It accepts only what a structural schema can express: objects, lists, maps, scalars, and
 * the union of whole number and string.
 *
 * @throws Error if the schema uses anything else, so that no validation rule is lost silently
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
export function structuralSchema(schema: z.ZodType): StructuralSchema {
  const jsonSchema = z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', reused: 'inline' }) as JsonSchema
  return structural(jsonSchema, '')
}

function structural(node: JsonSchema, path: string): StructuralSchema {
  if (node['anyOf'] !== undefined) return intOrString(node, path)
  refuseUnknown(node, path)
  const { properties, items, additionalProperties } = node as {
    properties?: Record<string, JsonSchema>
    items?: JsonSchema
    additionalProperties?: JsonSchema | false
  }
  return {
    ...pick(node),
    ...bounds(node),
    // The API server drops empty properties, so applying the file again would show a change.
    ...(properties &&
      Object.keys(properties).length > 0 && { properties: mapValues(properties, (child, name) => structural(child, `${path}.${name}`)) }),
    ...(items && { items: structural(items, `${path}[]`) }),
    ...(additionalProperties && openObject(additionalProperties, path)),
  }
}

/** Converts the only union that a structural schema allows: whole number or string. */
function intOrString(node: JsonSchema, path: string): StructuralSchema {
  const types = (node['anyOf'] as readonly JsonSchema[]).map((option) => option['type'])
  if (types.join() !== 'integer,string') throw new Error(`${path}: only whole number or string may be a union`)
  const { description } = node as { description?: string }
  return {
    ...(description && { description }),
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    'x-kubernetes-int-or-string': true,
  }
}

/** A map keeps the schema of its values; an open object keeps unknown fields. */
function openObject(additionalProperties: JsonSchema, path: string): StructuralSchema {
  if (Object.keys(additionalProperties).length === 0) return { 'x-kubernetes-preserve-unknown-fields': true }
  return { additionalProperties: structural(additionalProperties, `${path}{}`) }
}

function pick(node: JsonSchema): StructuralSchema {
  const kept = plainKeywords.filter((keyword) => node[keyword] !== undefined && !(keyword === 'enum' && node[KNOWN_VALUES] === true))
  return Object.fromEntries(kept.map((keyword) => [keyword, node[keyword]]))
}

/** Drops Zod's bounds at the safe integers; `format` already bounds whole numbers. */
function bounds(node: JsonSchema): StructuralSchema {
  const { minimum, maximum } = node as { minimum?: number; maximum?: number }
  return {
    ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
  }
}

function refuseUnknown(node: JsonSchema, path: string): void {
  const known = [...plainKeywords, 'properties', 'items', 'additionalProperties', 'minimum', 'maximum', KNOWN_VALUES]
  const unknown = Object.keys(node).filter((keyword) => !known.includes(keyword))
  if (unknown.length > 0) throw new Error(`${path}: a structural schema cannot say ${unknown.join(', ')}`)
  if (typeof node['type'] !== 'string') throw new Error(`${path}: every node of a structural schema has a type`)
}

function mapValues<From, To>(values: Readonly<Record<string, From>>, change: (value: From, key: string) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value, key)]))
}
