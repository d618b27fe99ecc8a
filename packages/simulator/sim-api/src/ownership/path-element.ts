import { isObject, type JsonObject } from '../store/json.ts'

/** @returns the path element of a field of an object */
export function fieldElement(name: string): string {
  return `f:${name}`
}

/** @returns the name of the field that the element stands for; undefined for an item of a list */
export function fieldName(element: string): string | undefined {
  return element.startsWith('f:') ? element.slice(2) : undefined
}

/** @returns the path element of an item of a list, told from the others by these fields; in the order of their names */
export function keyElement(keys: JsonObject): string {
  return `k:${JSON.stringify(keys)}`
}

/** @returns the path element of an item of a list of plain values */
export function valueElement(value: unknown): string {
  return `v:${JSON.stringify(value)}`
}

/** Fields come first, then items by their keys, then plain values; numbers stand in the order of their size. */
export function byElement(a: string, b: string): number {
  if (a[0] !== b[0] || a[0] === 'f' || a[0] === '.') return byCodeUnit(a, b)
  return byValue(JSON.parse(a.slice(2)) as unknown, JSON.parse(b.slice(2)) as unknown)
}

/** @returns the element as messages show it: `.name`, `[name="main"]`, `[="a"]` */
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
