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
}

/** Reads an annotation that holds a JSON list, to write it again. @returns all that has an id, whole, whether we understand it or not */
export function listedItems(text: string | undefined): readonly ListedItem[] {
  const value = text === undefined ? undefined : jsonOf(text)
  return Array.isArray(value) ? value.filter(isListed) : []
}

function isListed(item: unknown): item is ListedItem {
  return typeof item === 'object' && item !== null && 'id' in item && typeof item.id === 'string'
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
