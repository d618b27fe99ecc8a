/** What tells whether a value is what it should be. */
export interface ItemSchema<T> {
  safeParse(value: unknown): { readonly success: true; readonly data: T } | { readonly success: false }
}

/** Reads an annotation that holds a JSON list. @returns those items that are what they should be; none of what is no list */
export function parsedList<T>(text: string | undefined, schema: ItemSchema<T>): readonly T[] {
  const value = text === undefined ? undefined : jsonOf(text)
  if (!Array.isArray(value)) return []
  return value.flatMap((one) => {
    const item = schema.safeParse(one)
    return item.success ? [item.data] : []
  })
}

/** An item of a list as it stands there, with members that another version has written. */
export interface ListedItem {
  readonly id: string
  /** The moment, as all versions have written it so far. */
  readonly at?: unknown
}

/**
 * Reads an annotation that holds a JSON list, to write it again.
 *
 * @returns all that has an id, whole, whether we understand it or not; none that nests so deep that no version can have written it
 */
export function listedItems(text: string | undefined): readonly ListedItem[] {
  const value = text === undefined ? undefined : jsonOf(text)
  return Array.isArray(value) ? value.filter(isListed) : []
}

/**
 * A list as text, at most so many items and bytes of UTF-8 of it: the oldest go first, and the newest stays. Who may annotate an object
 * may write anything into its list, and must not keep us from writing ours.
 *
 * @param items newest last
 */
export function listText(items: readonly ListedItem[], { most, mostBytes }: ListLimits): string {
  let kept = items.slice(-most)
  while (kept.length > 1 && sizeBytes(JSON.stringify(kept)) > mostBytes) kept = kept.slice(1)
  return JSON.stringify(kept)
}

/** How much of a list there is room for. */
interface ListLimits {
  readonly most: number
  readonly mostBytes: number
}

/** Without TextEncoder, which a pure package does not have. */
export function sizeBytes(text: string): number {
  let bytes = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return bytes
}

function isListed(item: unknown): item is ListedItem {
  return typeof item === 'object' && item !== null && 'id' in item && typeof item.id === 'string' && nestsAtMost(item, DEEPEST)
}

/** JSON is read however deep it nests, and cannot be written again where that is some thousand levels. */
const DEEPEST = 16

function nestsAtMost(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((one) => nestsAtMost(one, levels - 1))
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
