import { jsonEqual } from '../model/json.ts'
import { type FieldSet, isEmptySet, LEAF, nodeOf } from './field-set.ts'
import { fieldsOf, itemsOf, type KnownShape, type Parts, SEVERAL, type Shape, shapeAt, shapeFor } from './shape.ts'

/** Differences between two objects, by field. */
export interface Comparison {
  readonly added: FieldSet
  readonly removed: FieldSet
  readonly modified: FieldSet
}

/** @returns fields in which the second object differs from the first */
export function compareFields(shape: Shape, before: object, after: object): Comparison {
  const { added, removed, modified } = comparePresent(shape, before, after) ?? {}
  return { added: added ?? LEAF, removed: removed ?? LEAF, modified: modified ?? LEAF }
}

/** @returns every field of a value, and the value itself, as added by a first write */
export function wholeNode(shape: Shape, value: unknown): FieldSet {
  const held = shapeFor(shape, value)
  const parts = partsOf(held, value)
  const below: Record<string, FieldSet> = {}
  for (const [element, part] of parts ?? []) below[element] = part === SEVERAL ? LEAF : wholeNode(shapeAt(held, element), part)
  return nodeOf(true, below)!
}

/** Node per set that contains something at or below the path. */
type Nodes = { readonly [name in keyof Comparison]?: FieldSet }

function compareValues(shape: Shape, before: unknown, after: unknown): Nodes | undefined {
  if (before === after) return undefined
  if (before === undefined) return { added: wholeNode(shape, after) }
  if (after === undefined) return { removed: wholeNode(shape, before) }
  return comparePresent(shape, before, after)
}

function comparePresent(shape: Shape, before: unknown, after: unknown): Nodes | undefined {
  const held = shapeFor(shape, after)
  const old = shapeFor(shape, before)
  if (held.kind !== old.kind) return { modified: LEAF }
  const [partsBefore, partsAfter] = [partsOf(old, before), partsOf(held, after)]
  const isLeaf = partsBefore === undefined || partsAfter === undefined || (partsBefore.size === 0 && partsAfter.size === 0)
  if (isLeaf) return jsonEqual(before, after) ? undefined : { modified: LEAF }
  return compareParts(held, partsBefore, partsAfter)
}

function compareParts(shape: Shape, before: Parts, after: Parts): Nodes | undefined {
  const below: Record<keyof Comparison, Record<string, FieldSet>> = { added: {}, removed: {}, modified: {} }
  let differs = false
  const compare = (element: string, old: unknown, next: unknown): void => {
    const nodes = old === SEVERAL || next === SEVERAL ? repeated(old, next) : compareValues(shapeAt(shape, element), old, next)
    if (nodes === undefined) return
    differs = true
    for (const name of kinds) if (nodes[name] !== undefined) below[name][element] = nodes[name]
  }
  for (const [element, old] of before) compare(element, old, after.get(element))
  for (const [element, next] of after) if (!before.has(element)) compare(element, undefined, next)
  return differs ? onlyFilled(below) : undefined
}

const kinds = ['added', 'removed', 'modified'] as const

function onlyFilled(below: Readonly<Record<keyof Comparison, FieldSet>>): Nodes {
  const nodes: { -readonly [name in keyof Comparison]?: FieldSet } = {}
  for (const name of kinds) if (!isEmptySet(below[name])) nodes[name] = below[name]
  return nodes
}

/** Duplicate list items have one owner together. */
function repeated(old: unknown, next: unknown): Nodes {
  if (old === undefined) return { added: LEAF }
  return next === undefined ? { removed: LEAF } : { modified: LEAF }
}

/** @returns parts that have owners of their own; undefined for atomic values */
function partsOf(shape: KnownShape, value: unknown): Parts | undefined {
  if (shape.kind === 'map') return shape.atomic ? undefined : fieldsOf(value)
  return shape.kind === 'list' && shape.by !== 'atomic' ? itemsOf(shape, value) : undefined
}
