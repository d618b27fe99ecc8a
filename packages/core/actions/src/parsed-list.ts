import { readJson } from '@tranche/kube-types'

/** Schema of the items of a list. */
export interface ItemSchema<T> {
  safeParse(value: unknown): { readonly success: true; readonly data: T } | { readonly success: false }
}

/**
 * Reads an annotation that holds a JSON list.
 *
 * @param most maximum number of items, ≥ 1: the last ones are read
 * @returns the valid items; empty when the text is no list
 */
export function parsedList<T>(text: string | undefined, schema: ItemSchema<T>, most: number): readonly T[] {
  const value = text === undefined ? undefined : jsonOf(text)
  if (!Array.isArray(value)) return []
  const items: T[] = []
  for (let at = value.length - 1; at >= 0 && items.length < most; at--) {
    const item = schema.safeParse(value[at])
    if (item.success) items.push(item.data)
  }
  return items.reverse()
}

/** A raw item of a list, including members that another version wrote. */
export interface ListedItem {
  readonly id: string
  /** Time of the item; all versions so far write it. */
  readonly at?: unknown
}

/**
 * Reads an annotation that holds a JSON list in order to write it again.
 *
 * @returns all items with an id, complete even if unknown; without items that nest deeper than any version writes
 */
export function listedItems(text: string | undefined): readonly ListedItem[] {
  const value = text === undefined ? undefined : jsonOf(text)
  return Array.isArray(value) ? value.filter(isListed) : []
}

/**
 * Returns a list as text within the limits: the oldest items are dropped first, and the newest stays. Users who may annotate the
 * object may write any text into the list, and must not prevent Tranche from writing.
 *
 * @param items newest last
 */
export function listText(items: readonly ListedItem[], { most, mostBytes }: ListLimits): string {
  let kept = items.slice(-most)
  while (kept.length > 1 && sizeBytes(JSON.stringify(kept)) > mostBytes) kept = kept.slice(1)
  return JSON.stringify(kept)
}

/** Limits of a list: items, and bytes of UTF-8. */
interface ListLimits {
  readonly most: number
  readonly mostBytes: number
}

/** Bytes of a text in UTF-8, without TextEncoder, which a pure package does not have. */
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

/** Maximum nesting of an item: JSON parses at any depth, but cannot be serialized again at some thousand levels. */
const DEEPEST = 16

function nestsAtMost(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((one) => nestsAtMost(one, levels - 1))
}

function jsonOf(text: string): unknown {
  try {
    return readJson(text)
  } catch {
    return undefined
  }
}
