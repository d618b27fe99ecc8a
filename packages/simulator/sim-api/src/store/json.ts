/** A JSON object that is not (yet) known to be a Kubernetes object. */
export type JsonObject = { readonly [field: string]: unknown }

/**
 * Takes a value from outside: a deeply frozen copy, as it would arrive over the wire (fields that are `undefined` are
 * left out). What is frozen already is taken as it is, so that objects handed out by the store cost nothing.
 */
export function importJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (Array.isArray(value)) return Object.freeze(value.map((item: unknown) => (item === undefined ? null : importJson(item))))
  const copy: Record<string, unknown> = {}
  for (const [field, item] of Object.entries(value)) if (item !== undefined) setField(copy, field, importJson(item))
  return Object.freeze(copy)
}

/** Freezes a value in place and all it holds, not descending into what is frozen already. */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const item of Object.values(value)) freezeDeep(item)
  return Object.freeze(value)
}

/** @returns a deep copy that may be changed */
export function thaw(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(thaw)
  const copy: Record<string, unknown> = {}
  for (const [field, item] of Object.entries(value)) setField(copy, field, thaw(item))
  return copy
}

/** @returns whether two JSON values are the same; the order of fields does not matter, a field that is `undefined` is absent */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && listsEqual(a, b)
  return fieldsEqual(a as JsonObject, b as JsonObject)
}

/** @returns the list with every item mapped; the same list when no item changed */
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

/** @returns the object with every value mapped; the same object when no value changed */
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

/** How deep objects and lists may stand in one another. What is deeper ends the stack of whoever walks it. */
export const DEEPEST = 1000

/** @returns whether objects and lists stand in one another more than `levels` deep */
export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((item) => isDeeperThan(levels - 1, item))
}

/** @returns whether the value is a JSON object: no list, no null */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @returns the value if it is an object, else an empty one: for reading what users wrote */
export function objectOrEmpty(value: unknown): JsonObject {
  return isObject(value) ? value : empty
}

/** @returns the value if it is a list, else an empty one: for reading what users wrote */
export function listOrEmpty(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Sets a field even when it is called `__proto__`. */
export function setField(object: Record<string, unknown>, field: string, value: unknown): void {
  if (field === '__proto__') Object.defineProperty(object, field, { value, enumerable: true, configurable: true, writable: true })
  else object[field] = value
}

const empty: JsonObject = Object.freeze({})

function listsEqual(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => jsonEqual(item, b[index]))
}

function fieldsEqual(a: JsonObject, b: JsonObject): boolean {
  for (const field of Object.keys(a)) if (!jsonEqual(a[field], b[field])) return false
  for (const field of Object.keys(b)) if (b[field] !== undefined && a[field] === undefined) return false
  return true
}
