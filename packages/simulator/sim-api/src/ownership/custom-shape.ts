import { valueIn } from '@tranche/kube-types'
import type { JsonSchema } from '../model/json-schema.ts'
import { isObject } from '../model/json.ts'
import { builtInShape } from './built-in-shape.ts'
import { anyShape, type ListKey, type MapShape, type ScalarShape, type Shape } from './shape.ts'

/** @returns shape of a custom resource by the schema of its CustomResourceDefinition; without a schema, all fields are kept */
export function customShape(schema: JsonSchema | undefined): Shape {
  const shape = schema === undefined ? keepsAll : schemaShape(schema)
  const { field, others } = shape.kind === 'map' ? shape : keepsAll
  const own = new Map<string, Shape>([
    ['apiVersion', text],
    ['kind', text],
    ['metadata', builtInShape('meta/v1.ObjectMeta')],
  ])
  return { kind: 'map', atomic: false, field: (name) => own.get(name) ?? field(name), others }
}

const text: Shape = { kind: 'scalar', scalar: 'string' }
const keepsAll: MapShape = { kind: 'map', atomic: false, field: () => undefined, others: anyShape }

function schemaShape(schema: JsonSchema): Shape {
  if (schema['x-kubernetes-int-or-string'] === true) return { kind: 'scalar', scalar: 'untyped' }
  switch (schema.type) {
    case 'object':
      return mapShape(schema)
    case 'array':
      return listShape(schema)
    case undefined:
      return anyShape
    default:
      return { kind: 'scalar', scalar: valueIn(scalars, schema.type) ?? 'untyped' }
  }
}

const scalars: Readonly<Record<string, ScalarShape>> = { string: 'string', boolean: 'boolean', integer: 'numeric', number: 'numeric' }

function mapShape(schema: JsonSchema): Shape {
  const fields = new Map<string, Shape>()
  const keepsOthers = schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true
  const others = isObject(schema.additionalProperties) ? schemaShape(schema.additionalProperties) : keepsOthers ? anyShape : undefined
  return {
    kind: 'map',
    atomic: schema['x-kubernetes-map-type'] === 'atomic',
    others,
    field(name) {
      if (!Object.hasOwn(schema.properties ?? {}, name)) return undefined
      const shape = fields.get(name) ?? schemaShape(schema.properties![name]!)
      fields.set(name, shape)
      return shape
    },
  }
}

function listShape(schema: JsonSchema): Shape {
  const items = schema.items === undefined ? anyShape : schemaShape(schema.items)
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return { kind: 'list', items, by: 'set' }
    case 'map':
      return { kind: 'list', items, by: keys.toSorted().map((name) => listKey(schema, name)) }
    default:
      return { kind: 'list', items, by: 'atomic' }
  }
}

function listKey(schema: JsonSchema, name: string): ListKey {
  const value = schema.items?.properties?.[name]?.default
  return value === undefined ? { name } : { name, default: value }
}
