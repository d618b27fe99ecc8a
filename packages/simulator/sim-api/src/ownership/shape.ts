import type { JsonObject } from '../store/json.ts'
import { fieldElement, fieldName, keyElement, valueElement } from './path-element.ts'
import { isObject } from '../store/json.ts'

/** What a plain value may be. `untyped`: any of them. */
export type ScalarShape = 'string' | 'numeric' | 'boolean' | 'untyped'

/** One of the fields that tell the items of a list apart, and what it is where it is not given. */
export interface ListKey {
  readonly name: string
  readonly default?: unknown
}

/** How the fields of a value belong together: what is atomic has one owner, what is not has one for each of its parts. */
export type Shape =
  | { readonly kind: 'scalar'; readonly scalar: ScalarShape }
  | MapShape
  | ListShape
  /** Whatever JSON holds: maps by field, lists whole. */
  | { readonly kind: 'any' }

/** An object. */
export interface MapShape {
  readonly kind: 'map'
  readonly atomic: boolean
  /** @returns the shape of a field that the type names; undefined for any other */
  field(name: string): Shape | undefined
  /** Shape of the fields that the type does not name; undefined where there are none. */
  readonly others: Shape | undefined
}

/** A list: whole, a set of plain values, or objects told apart by some of their fields. */
export interface ListShape {
  readonly kind: 'list'
  readonly items: Shape
  readonly by: 'atomic' | 'set' | readonly ListKey[]
}

/** A shape that a value has been looked at for. */
export type KnownShape = Exclude<Shape, { readonly kind: 'any' }>

const untypedScalar: KnownShape = { kind: 'scalar', scalar: 'untyped' }

/** Whatever JSON holds. */
export const anyShape: Shape = { kind: 'any' }

const anyMap: MapShape = { kind: 'map', atomic: false, field: () => undefined, others: anyShape }
const anyList: ListShape = { kind: 'list', items: anyShape, by: 'atomic' }

/** @returns the shape that holds for this value: one of `any` is decided by what the value is */
export function shapeFor(shape: Shape, value: unknown): KnownShape {
  if (shape.kind !== 'any') return shape
  if (Array.isArray(value)) return anyList
  return value === null || isObject(value) ? anyMap : untypedScalar
}

/** @returns the shape of what stands at an element below this one */
export function shapeAt(shape: Shape, element: string): Shape {
  const name = fieldName(element)
  if (name !== undefined && shape.kind === 'map') return shape.field(name) ?? shape.others ?? anyShape
  return shape.kind === 'list' ? shape.items : anyShape
}

/** @returns whether the element is a field that the type names */
export function isNamedField(shape: Shape, element: string): boolean {
  const name = fieldName(element)
  return name !== undefined && shape.kind === 'map' && shape.field(name) !== undefined
}

/** An object or list whose parts have owners of their own, by path element; each part once. */
export type Parts = ReadonlyMap<string, unknown>

/** Parts that stand in a list more than once. */
export const SEVERAL = Symbol('several')

/** @returns the fields of an object, by path element; those that are undefined are not there */
export function fieldsOf(value: unknown): Parts {
  const parts = new Map<string, unknown>()
  if (isObject(value)) for (const name of Object.keys(value)) if (value[name] !== undefined) parts.set(fieldElement(name), value[name])
  return parts
}

/** @returns the items of a list, by path element, in order; {@link SEVERAL} for what stands there more than once */
export function itemsOf(shape: ListShape, value: unknown): Parts {
  const parts = new Map<string, unknown>()
  if (!Array.isArray(value)) return parts
  for (const item of value) {
    const element = itemElement(shape, item)
    if (element !== undefined) parts.set(element, parts.has(element) ? SEVERAL : item)
  }
  return parts
}

/** @returns the path element of an item; undefined where it has none of the fields that would tell it from others */
export function itemElement(shape: ListShape, item: unknown): string | undefined {
  if (shape.by === 'atomic') return undefined
  if (shape.by === 'set') return typeof item === 'object' ? undefined : valueElement(item)
  if (!isObject(item)) return undefined
  const keys: Record<string, unknown> = {}
  for (const key of shape.by) {
    const value = item[key.name] ?? key.default
    if (value !== undefined) keys[key.name] = value
  }
  return Object.keys(keys).length > 0 ? keyElement(keys satisfies JsonObject) : undefined
}
