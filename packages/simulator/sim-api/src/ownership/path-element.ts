import { isObject, type JsonObject } from '../model/json.ts'

/** @returns path element of an object's field */
export function fieldElement(name: string): string {
  return `f:${name}`
}

/** @returns name of the element's field; undefined for a list item */
export function fieldName(element: string): string | undefined {
  return element.startsWith('f:') ? element.slice(2) : undefined
}

/** @returns path element of a list item with these key fields, sorted by name */
export function keyElement(keys: JsonObject): string {
  return `k:${JSON.stringify(keys)}`
}

/** @returns path element of an item in a list of plain values */
export function valueElement(value: unknown): string {
  return `v:${JSON.stringify(value)}`
}

/** Sorts fields first, then items by their keys, then plain values; numbers are compared by value. */
export function byElement(a: string, b: string): number {
  if (a[0] !== b[0] || a[0] === 'f' || a[0] === '.') return byCodeUnit(a, b)
  return byValue(JSON.parse(a.slice(2)) as unknown, JSON.parse(b.slice(2)) as unknown)
}

/** @returns element in the format of messages: `.name`, `[name="main"]`, `[="a"]` */
export function elementText(element: string): string {
  const name = fieldName(element)
  if (name !== undefined) return `.${name}`
  const value = JSON.parse(element.slice(2)) as unknown
  if (!isObject(value)) return `[=${JSON.stringify(value)}]`
  const keys = Object.entries(value).map(([key, item]) => `${key}=${JSON.stringify(item)}`)
  return `[${keys.join(',')}]`
}

function byValue(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (!isObject(a) || !isObject(b)) return byCodeUnit(String(a), String(b))
  const [keysA, keysB] = [Object.keys(a), Object.keys(b)]
  for (const [index, key] of keysA.entries()) {
    if (keysB[index] === undefined) return 1
    const order = byCodeUnit(key, keysB[index]) || byValue(a[key], b[key])
    if (order !== 0) return order
  }
  return keysA.length - keysB.length
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
