import type { JsonObject } from '../model/json.ts'
import { fieldElement, fieldName, keyElement, valueElement } from './path-element.ts'
import { isObject } from '../model/json.ts'

/** Type of a plain value. `untyped`: any. */
export type ScalarShape = 'string' | 'numeric' | 'boolean' | 'untyped'

/** Key field of list items, and its default. */
export interface ListKey {
  readonly name: string
  readonly default?: unknown
}

/** Structure of a value for field ownership: an atomic value has one owner, any other has one owner per part. */
export type Shape =
  | { readonly kind: 'scalar'; readonly scalar: ScalarShape }
  | MapShape
  | ListShape
  /** Any JSON: maps by field, lists atomic. */
  | { readonly kind: 'any' }

/** An object. */
export interface MapShape {
  readonly kind: 'map'
  readonly atomic: boolean
  /** @returns shape of a field that the type names; undefined for any other */
  field(name: string): Shape | undefined
  /** Shape of the fields that the type does not name; undefined when there are none. */
  readonly others: Shape | undefined
}

/** List: atomic, a set of plain values, or objects with key fields. */
export interface ListShape {
  readonly kind: 'list'
  readonly items: Shape
  readonly by: 'atomic' | 'set' | readonly ListKey[]
}

/** Shape resolved for a value. */
export type KnownShape = Exclude<Shape, { readonly kind: 'any' }>

const untypedScalar: KnownShape = { kind: 'scalar', scalar: 'untyped' }

/** Any JSON. */
export const anyShape: Shape = { kind: 'any' }

const anyMap: MapShape = { kind: 'map', atomic: false, field: () => undefined, others: anyShape }
const anyList: ListShape = { kind: 'list', items: anyShape, by: 'atomic' }

/** @returns shape for this value; the value decides when the shape is `any` */
export function shapeFor(shape: Shape, value: unknown): KnownShape {
  if (shape.kind !== 'any') return shape
  if (Array.isArray(value)) return anyList
  return value === null || isObject(value) ? anyMap : untypedScalar
}

/** @returns shape of the value at an element below this one */
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

/** Parts of an object or list by path element, each part once. */
export type Parts = ReadonlyMap<string, unknown>

/** Marks parts that occur in a list more than once. */
export const SEVERAL = Symbol('several')

/** @returns fields of an object by path element; undefined values count as absent */
export function fieldsOf(value: unknown): Parts {
  const parts = new Map<string, unknown>()
  if (isObject(value)) for (const name of Object.keys(value)) if (value[name] !== undefined) parts.set(fieldElement(name), value[name])
  return parts
}

/** @returns items of a list by path element, in order; {@link SEVERAL} for duplicates */
export function itemsOf(shape: ListShape, value: unknown): Parts {
  const parts = new Map<string, unknown>()
  if (!Array.isArray(value)) return parts
  for (const item of value) {
    const element = itemElement(shape, item)
    if (element !== undefined) parts.set(element, parts.has(element) ? SEVERAL : item)
  }
  return parts
}

/** @returns path element of an item; undefined when it has none of the key fields */
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
