/** Decides whether a member of an object is included. */
export type Counts = (key: string, member: unknown) => boolean

/**
 * Canonical text of a value. Two values have the same text if they are equal as JSON, regardless of the order of their members.
 *
 * @param counts members for which it returns false are left out, at every depth; undefined members are always left out
 * @returns empty for undefined
 */
export function canonicalJson(value: unknown, counts: Counts = () => true): string {
  return JSON.stringify(sorted(value, counts)) ?? ''
}

/** Whether two JSON values have the same {@link canonicalJson}, without building the text. */
export function isSameJson(a: unknown, b: unknown, counts: Counts = () => true): boolean {
  if (a === b) return true
  if (!isObject(a) || !isObject(b)) return !isObject(a) && !isObject(b) && JSON.stringify(a) === JSON.stringify(b)
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && isSameList(a, b, counts)
  const keys = countedKeys(a, counts)
  return keys.length === countedKeys(b, counts).length && keys.every((key) => isSameMember(key, a, b, counts))
}

type JsonObject = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null
}

/** An undefined list item is null in JSON. */
function isSameList(a: readonly unknown[], b: readonly unknown[], counts: Counts): boolean {
  return a.length === b.length && a.every((item, at) => isSameJson(item ?? null, b[at] ?? null, counts))
}

function countedKeys(object: JsonObject, counts: Counts): readonly string[] {
  return Object.keys(object).filter((key) => object[key] !== undefined && counts(key, object[key]))
}

function isSameMember(key: string, a: JsonObject, b: JsonObject, counts: Counts): boolean {
  return Object.hasOwn(b, key) && b[key] !== undefined && counts(key, b[key]) && isSameJson(a[key], b[key], counts)
}

function sorted(value: unknown, counts: Counts): unknown {
  if (Array.isArray(value)) return value.map((item) => sorted(item, counts))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([key, member]) => member !== undefined && counts(key, member))
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, member]) => [key, sorted(member, counts)]))
}
