/**
 * Whether two values are equal as JSON, in whatever order their members stand. Compared whole and not by the fields that
 * we know, so that a change in a field that nobody here has heard of is a change. A null `creationTimestamp`, which some
 * clients send inside templates, counts as absent.
 */
export function isSameJson(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b)
}

function canonicalJson(value: unknown): string | undefined {
  return JSON.stringify(value, (key, child: unknown) => {
    if (key === 'creationTimestamp' && child === null) return undefined
    return isObject(child) ? sortedMembers(child) : child
  })
}

function sortedMembers(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
