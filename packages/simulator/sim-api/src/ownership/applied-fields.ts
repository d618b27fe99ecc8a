import { isObject } from '../model/json.ts'
import { belowOf, type FieldSet, isMember, LEAF, nodeOf } from './field-set.ts'
import { fieldsOf, isNamedField, itemsOf, SEVERAL, type Shape, shapeAt, shapeFor } from './shape.ts'

/** @returns fields that a configuration sets: plain values, list items, empty values, and map keys */
export function appliedFields(shape: Shape, value: unknown): FieldSet {
  const held = shapeFor(shape, value)
  const below: Record<string, FieldSet> = {}
  if (held.kind === 'map' && !held.atomic)
    for (const [element, part] of fieldsOf(value)) {
      const isSetItself = part === null || isEmptyMap(part) || !isNamedField(held, element)
      add(below, element, nodeOfPart(shapeAt(held, element), part, isSetItself))
    }
  if (held.kind === 'list' && held.by !== 'atomic')
    for (const [element, part] of itemsOf(held, value)) add(below, element, part === SEVERAL ? LEAF : nodeOfPart(held.items, part, true))
  return below
}

/** @returns the set, plus each field named by its type that has fields of the set below it */
export function withNamedFields(shape: Shape, set: FieldSet): FieldSet {
  const result: Record<string, FieldSet> = {}
  for (const [element, node] of Object.entries(set)) {
    const below = withNamedFields(shapeAt(shape, element), belowOf(node))
    result[element] = nodeOf(isMember(node) || isNamedField(shape, element), below)!
  }
  return result
}

function nodeOfPart(shape: Shape, part: unknown, isSetItself: boolean): FieldSet | undefined {
  const held = shapeFor(shape, part)
  const isWhole = held.kind === 'scalar' || (held.kind === 'map' && held.atomic) || (held.kind === 'list' && held.by === 'atomic')
  return isWhole ? LEAF : nodeOf(isSetItself, appliedFields(held, part))
}

function add(below: Record<string, FieldSet>, element: string, node: FieldSet | undefined): void {
  if (node !== undefined) below[element] = node
}

function isEmptyMap(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0
}
