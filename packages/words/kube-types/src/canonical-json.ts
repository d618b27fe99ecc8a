import { isRawNumber } from './raw-json.ts'

/** Decides whether a member of an object is included. */
export type Counts = (key: string, member: unknown) => boolean

/** Maximum nesting that is compared: twice that of the values which enter, because code puts them into values of its own. */
const DEEPEST = 200

/**
 * Canonical text of a value. Two values have the same text if they are equal as JSON, regardless of the order of their members. Half a
 * surrogate pair in a text equals U+FFFD, as API servers store it.
 *
 * @param counts members for which it returns false are left out, at every depth; undefined members are always left out
 * @returns empty for undefined
 * @throws {RangeError} if objects and lists are nested more than 200 deep; the client of the API server lets no such value in
 */
export function canonicalJson(value: unknown, counts: Counts = () => true): string {
  return JSON.stringify(sorted(value, counts, DEEPEST)) ?? ''
}

/**
 * Whether two JSON values have the same {@link canonicalJson}, without building the text. Values nested more than 200 deep differ, unless
 * the parts below are one object.
 */
export function isSameJson(a: unknown, b: unknown, counts: Counts = () => true): boolean {
  return isSame(a, b, counts, DEEPEST)
}

type JsonObject = Readonly<Record<string, unknown>>

function isSame(a: unknown, b: unknown, counts: Counts, levels: number): boolean {
  if (a === b) return true
  if (typeof a === 'string' && typeof b === 'string') return a.toWellFormed() === b.toWellFormed()
  if (!isObject(a) || !isObject(b)) return !isObject(a) && !isObject(b) && JSON.stringify(a) === JSON.stringify(b)
  if (levels === 0) return false
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && isSameList(a, b, counts, levels - 1)
  const keys = countedKeys(a, counts)
  return keys.length === countedKeys(b, counts).length && keys.every((key) => isSameMember(key, [a, b], counts, levels - 1))
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null
}

/** An undefined list item is null in JSON. */
function isSameList(a: readonly unknown[], b: readonly unknown[], counts: Counts, levels: number): boolean {
  return a.length === b.length && a.every((item, at) => isSame(item ?? null, b[at] ?? null, counts, levels))
}

function countedKeys(object: JsonObject, counts: Counts): readonly string[] {
  return Object.keys(object).filter((key) => object[key] !== undefined && counts(key, object[key]))
}

function isSameMember(key: string, [a, b]: readonly [JsonObject, JsonObject], counts: Counts, levels: number): boolean {
  return Object.hasOwn(b, key) && b[key] !== undefined && counts(key, b[key]) && isSame(a[key], b[key], counts, levels)
}

function sorted(value: unknown, counts: Counts, levels: number): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value
  if (levels === 0) throw new RangeError(`objects and lists are nested more than ${DEEPEST} deep`)
  if (Array.isArray(value)) return value.map((item) => sorted(item, counts, levels - 1))
  const members = Object.entries(value).filter(([key, member]) => member !== undefined && counts(key, member))
  const inOrder = members.sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(inOrder.map(([key, member]) => [key, sorted(member, counts, levels - 1)]))
}
