import { type Definition, definitionOf, type FieldType, type ScalarType } from '../schema/builtin-definitions.ts'
import { isAtomicDefinition, isAtomicField, listTypeOf } from '../schema/list-types.ts'
import { anyShape, type ListKey, type ScalarShape, type Shape } from './shape.ts'

const shapes = new Map<string, Shape>()

/** @returns shape of an API type: `apps/v1.DaemonSet` */
export function builtInShape(definition: string): Shape {
  const known = shapes.get(definition)
  if (known !== undefined) return known
  const fields = new Map<string, Shape>()
  const { fields: types } = definitionOf(definition)
  const shape: Shape = {
    kind: 'map',
    atomic: isAtomicDefinition(definition),
    others: undefined,
    field(name) {
      const field = types.get(name)
      if (field === undefined) return undefined
      const found = fields.get(name) ?? fieldShape(definition, name, field.type)
      fields.set(name, found)
      return found
    },
  }
  shapes.set(definition, shape)
  return shape
}

function fieldShape(definition: string, name: string, type: FieldType): Shape {
  if (type.kind === 'list') {
    const listType = listTypeOf(definition, name)
    const by = listType === undefined ? 'atomic' : listType === 'set' ? 'set' : listType.keys.map((key) => listKey(type.of, key))
    return { kind: 'list', items: typeShape(type.of), by }
  }
  if (type.kind === 'map') return mapShape(typeShape(type.of), isAtomicField(definition, name))
  return typeShape(type)
}

function typeShape(type: FieldType): Shape {
  switch (type.kind) {
    case 'scalar':
      return type.scalar === 'any' ? anyShape : { kind: 'scalar', scalar: scalars[type.scalar] ?? 'string' }
    case 'list':
      return { kind: 'list', items: typeShape(type.of), by: 'atomic' }
    case 'map':
      return mapShape(typeShape(type.of), false)
    case 'definition':
      return builtInShape(type.definition)
  }
}

function mapShape(others: Shape, atomic: boolean): Shape {
  return { kind: 'map', atomic, field: () => undefined, others }
}

const scalars: Readonly<Partial<Record<ScalarType, ScalarShape>>> = {
  boolean: 'boolean',
  int32: 'numeric',
  int64: 'numeric',
  number: 'numeric',
  quantity: 'untyped',
  'int-or-string': 'untyped',
}

/** A missing list key is empty; a missing protocol is TCP. */
function listKey(items: FieldType, name: string): ListKey {
  const field = items.kind === 'definition' ? (definitionOf(items.definition) satisfies Definition).fields.get(name) : undefined
  if (name === 'protocol') return { name, default: 'TCP' }
  if (field?.required !== true || field.type.kind !== 'scalar') return { name }
  return { name, default: scalars[field.type.scalar] === 'numeric' ? 0 : '' }
}
