import { isObject, setField } from '../model/json.ts'
import { belowOf, type FieldSet, isEmptySet, isMember } from './field-set.ts'
import { fieldElement } from './path-element.ts'
import { itemElement, type ListShape, type MapShape, type Shape, shapeAt, shapeFor } from './shape.ts'

/** @returns value without these fields; undefined when nothing is left that must stay */
export function removeFields(shape: Shape, value: unknown, set: FieldSet): unknown {
  const held = shapeFor(shape, value)
  if (held.kind === 'scalar') return value
  if (held.kind === 'map') return withoutFields(held, value, set)
  return withoutItems(held, value, set)
}

function withoutFields(shape: MapShape, value: unknown, set: FieldSet): unknown {
  if (!isObject(value) || Object.keys(value).length === 0 || shape.atomic) return undefined
  const kept: Record<string, unknown> = {}
  let isThinned = false
  for (const [name, item] of Object.entries(value)) {
    const element = fieldElement(name)
    const node = set[element]
    if (isMember(node)) continue
    if (node !== undefined) isThinned = true
    setField(kept, name, node === undefined ? item : thinned(shapeAt(shape, element), item, node))
  }
  return Object.keys(kept).length > 0 || isThinned ? kept : undefined
}

function withoutItems(shape: ListShape, value: unknown, set: FieldSet): unknown {
  if (!Array.isArray(value) || value.length === 0 || shape.by === 'atomic') return undefined
  let isThinned = false
  const kept: unknown[] = []
  for (const item of value as readonly unknown[]) {
    const node = set[itemElement(shape, item) ?? '']
    if (isMember(node)) continue
    if (node !== undefined) isThinned = true
    kept.push(node === undefined ? item : thinned(shape.items, item, node))
  }
  return kept.length > 0 || isThinned ? kept : undefined
}

/** A value that loses all its parts stays as an empty one. */
function thinned(shape: Shape, item: unknown, node: FieldSet): unknown {
  const below = belowOf(node)
  if (isEmptySet(below)) return item
  const rest = removeFields(shape, item, below)
  if (rest !== undefined) return rest
  return isObject(item) ? {} : Array.isArray(item) ? [] : rest
}
