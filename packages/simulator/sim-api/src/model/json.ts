import { valueIn } from '@tranche/kube-types'
/** JSON object that is not known to be a Kubernetes object. */
export type JsonObject = { readonly [field: string]: unknown }

/**
 * Imports a value: a deeply frozen copy, as after transport over the wire (without `undefined` fields). Frozen values are reused, so
 * objects from the store cost nothing.
 */
export function importJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (Array.isArray(value)) return Object.freeze(value.map((item: unknown) => (item === undefined ? null : importJson(item))))
  const copy: Record<string, unknown> = {}
  for (const [field, item] of Object.entries(value)) if (item !== undefined) setField(copy, field, importJson(item))
  return Object.freeze(copy)
}

/** Freezes a value and its content in place; skips frozen parts. */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const item of Object.values(value)) freezeDeep(item)
  return Object.freeze(value)
}

/** @returns mutable deep copy */
export function thaw(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(thaw)
  const copy: Record<string, unknown> = {}
  for (const [field, item] of Object.entries(value)) setField(copy, field, thaw(item))
  return copy
}

/** @returns whether two JSON values are equal; ignores the order of fields, and treats `undefined` as absent */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && listsEqual(a, b)
  return fieldsEqual(a as JsonObject, b as JsonObject)
}

/** @returns list with every item mapped; the same list when no item changed */
export function mapList<T>(list: readonly T[], change: (item: T, index: number) => T): readonly T[] {
  let copy: T[] | undefined
  for (const [index, item] of list.entries()) {
    const changed = change(item, index)
    if (changed === item) continue
    copy ??= [...list]
    copy[index] = changed
  }
  return copy ?? list
}

/** @returns object with every value mapped; the same object when no value changed */
export function mapValues(object: JsonObject, change: (value: unknown, field: string) => unknown): JsonObject {
  let copy: Record<string, unknown> | undefined
  for (const [field, value] of Object.entries(object)) {
    const changed = change(value, field)
    if (changed === value) continue
    copy ??= { ...object }
    setField(copy, field, changed)
  }
  return copy ?? object
}

/**
 * Maximum nesting depth of objects and lists, which recursive functions can follow. Bodies of clients may be deeper: their values are kept as
 * text from half of it on, so that patches can put them below other fields.
 */
export const DEEPEST = 200

/** @returns whether objects and lists are nested more than `levels` deep */
export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((item) => isDeeperThan(levels - 1, item))
}

/** @returns whether the value is a JSON object: neither a list nor null */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @returns the value if it is an object, else an empty object: for reading user input */
export function objectOrEmpty(value: unknown): JsonObject {
  return isObject(value) ? value : empty
}

/** @returns the value if it is a list, else an empty list: for reading user input */
export function listOrEmpty(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Sets a field, even one named `__proto__`. */
export function setField(object: Record<string, unknown>, field: string, value: unknown): void {
  if (field === '__proto__') Object.defineProperty(object, field, { value, enumerable: true, configurable: true, writable: true })
  else object[field] = value
}

const empty: JsonObject = Object.freeze({})

function listsEqual(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => jsonEqual(item, b[index]))
}

function fieldsEqual(a: JsonObject, b: JsonObject): boolean {
  for (const field of Object.keys(a)) if (!jsonEqual(a[field], valueIn(b, field))) return false
  for (const field of Object.keys(b)) if (b[field] !== undefined && valueIn(a, field) === undefined) return false
  return true
}
