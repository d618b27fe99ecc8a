import { z } from 'zod'
import { DURATION, KNOWN_VALUES } from './fields.ts'
import { policyDurations, policyNumbers, policySizes } from './policy-bounds.ts'

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
  readonly pattern?: string
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
  'pattern',
  'required',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-validations',
] as const

/**
 * Converts a Zod schema to a structural schema. It accepts only what a structural schema can express: objects, lists, maps, scalars, and
 * the union of whole number and string.
 *
 * @param bounded path of the schema if it also refuses values that validation refuses: unknown values, and numbers and durations out of their
 *   range. Undefined if it accepts them: an object written by another controller, or by another version, must stay writable
 * @throws Error if the schema uses anything else, or a bounded field has no range, so that no validation rule is lost silently
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
export function structuralSchema(schema: z.ZodType, bounded?: string): StructuralSchema {
  const jsonSchema = z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', reused: 'inline' }) as JsonSchema
  return structural(jsonSchema, { path: bounded ?? '', isBounded: bounded !== undefined })
}

interface Place {
  readonly path: string
  readonly isBounded: boolean
}

function structural(node: JsonSchema, place: Place): StructuralSchema {
  const { path } = place
  if (node['anyOf'] !== undefined) return intOrString(node, place)
  refuseUnknown(node, path)
  const { properties, items, additionalProperties } = node as {
    properties?: Record<string, JsonSchema>
    items?: JsonSchema
    additionalProperties?: JsonSchema | false
  }
  const within = (part: string): Place => ({ ...place, path: `${path}${part}` })
  return {
    ...pick(node, place),
    ...bounds(node, place),
    // The API server drops empty properties, so applying the file again would show a change.
    ...(properties &&
      Object.keys(properties).length > 0 && { properties: mapValues(properties, (child, name) => structural(child, within(`.${name}`))) }),
    ...(items && { items: structural(items, within('[]')) }),
    ...(additionalProperties && openObject(additionalProperties, within('{}'))),
  }
}

/** Converts the only union that a structural schema allows: whole number or string. */
function intOrString(node: JsonSchema, place: Place): StructuralSchema {
  const types = (node['anyOf'] as readonly JsonSchema[]).map((option) => option['type'])
  if (types.join() !== 'integer,string') throw new Error(`${place.path}: only whole number or string may be a union`)
  const { description } = node as { description?: string }
  return {
    ...(description && { description }),
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    'x-kubernetes-int-or-string': true,
    ...(place.isBounded && { 'x-kubernetes-validations': [sizeRule(rangeAt(policySizes, place.path).from)] }),
  }
}

function sizeRule(from: 0 | 1): CelRule {
  const percent = from === 0 ? '(100|[0-9]{1,2})' : '(100|[1-9][0-9]?)'
  const rule = `type(self) == int ? self >= ${from} : self.matches('^0*${percent}%$')`
  return { rule, message: `must be a number of nodes from ${from}, or a percentage from ${from}% to 100%` }
}

/** Maximum length of a duration, as in `durationMs`. */
const LONGEST_DURATION = 64

function durationRule(path: string): StructuralSchema {
  const { from, to } = rangeAt(policyDurations, path)
  const isDuration = "self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$')"
  const rule = `${isDuration} && duration(self) >= duration('${from}') && duration(self) <= duration('${to}')`
  const message = `must be a duration from ${from} to ${to}, such as 30s or 1h30m`
  return { maxLength: LONGEST_DURATION, 'x-kubernetes-validations': [{ rule, message }] }
}

function rangeAt<Range>(ranges: Readonly<Record<string, Range>>, path: string): Range {
  const range = ranges[path]
  if (range === undefined) throw new Error(`${path}: policy-bounds.ts has no range for this field`)
  return range
}

/** A map keeps the schema of its values; an open object keeps unknown fields. */
function openObject(additionalProperties: JsonSchema, place: Place): StructuralSchema {
  if (Object.keys(additionalProperties).length === 0) return { 'x-kubernetes-preserve-unknown-fields': true }
  return { additionalProperties: structural(additionalProperties, place) }
}

function pick(node: JsonSchema, { isBounded }: Place): StructuralSchema {
  const isOpen = node[KNOWN_VALUES] === true && !isBounded
  const kept = plainKeywords.filter((keyword) => node[keyword] !== undefined && !(keyword === 'enum' && isOpen))
  return Object.fromEntries(kept.map((keyword) => [keyword, node[keyword]]))
}

/** Drops Zod's bounds at the safe integers; `format` already bounds whole numbers. */
function bounds(node: JsonSchema, { path, isBounded }: Place): StructuralSchema {
  if (isBounded && node[DURATION] === true) return durationRule(path)
  if (isBounded && node['type'] === 'integer') {
    const { from, to } = rangeAt(policyNumbers, path)
    return { minimum: from, maximum: to }
  }
  const { minimum, maximum } = node as { minimum?: number; maximum?: number }
  return {
    ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
  }
}

function refuseUnknown(node: JsonSchema, path: string): void {
  const known = [...plainKeywords, 'properties', 'items', 'additionalProperties', 'minimum', 'maximum', KNOWN_VALUES, DURATION]
  const unknown = Object.keys(node).filter((keyword) => !known.includes(keyword))
  if (unknown.length > 0) throw new Error(`${path}: a structural schema cannot say ${unknown.join(', ')}`)
  if (typeof node['type'] !== 'string') throw new Error(`${path}: every node of a structural schema has a type`)
}

function mapValues<From, To>(values: Readonly<Record<string, From>>, change: (value: From, key: string) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value, key)]))
}
