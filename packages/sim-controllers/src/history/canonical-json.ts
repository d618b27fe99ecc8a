/**
 * JSON with sorted keys, so that two equal values have one text.
 *
 * @param value what JSON can hold; members that are undefined are left out
 * @returns text without white space
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  members.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`
}

/**
 * @param none what stands for undefined
 * @returns whether two parts of objects differ; versions of an object share what has not changed, so that most end at once
 */
export function isChanged(now: object | undefined, before: object | undefined, none: object = {}): boolean {
  return now !== before && canonicalJson(now ?? none) !== canonicalJson(before ?? none)
}
