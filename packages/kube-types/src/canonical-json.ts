/** Whether a member of an object counts. */
export type Counts = (key: string, member: unknown) => boolean

/**
 * Two values have the same text when they are equal as JSON, in whatever order their members stand.
 *
 * @param counts members for which it is false are left out, at every depth; a member that is undefined never counts
 * @returns empty for undefined
 */
export function canonicalJson(value: unknown, counts: Counts = () => true): string {
  return JSON.stringify(sorted(value, counts)) ?? ''
}

/** Whether two values have the same {@link canonicalJson}. */
export function isSameJson(a: unknown, b: unknown, counts?: Counts): boolean {
  return a === b || canonicalJson(a, counts) === canonicalJson(b, counts)
}

function sorted(value: unknown, counts: Counts): unknown {
  if (Array.isArray(value)) return value.map((item) => sorted(item, counts))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([key, member]) => member !== undefined && counts(key, member))
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, member]) => [key, sorted(member, counts)]))
}
