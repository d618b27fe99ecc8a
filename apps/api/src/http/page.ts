import { AppError } from '@tranche/errors'

/** One page of a list. */
export interface Page<T> {
  readonly items: T[]
  readonly total: number
  readonly next?: string
}

/** Sort order and position of a page. */
export interface Paging<T> {
  /** `next` of the previous page; undefined for the first page. */
  readonly cursor: string | undefined
  readonly limit: number
  /** List and order that the cursor belongs to; cursors of other lists are refused. */
  readonly of: string
  /** Sort key of an item: compared part by part, unique per item. */
  readonly place: (item: T) => readonly (string | number)[]
  readonly descending?: boolean
}

/**
 * Cuts a page out of a list. A cursor is the sort key of the last item, not an offset: items added or removed in between neither
 * repeat nor hide others.
 *
 * @throws {AppError} REQUEST_INVALID for a malformed cursor, or one of another list
 */
export function pageOfList<T>(items: readonly T[], { cursor, limit, of, place, descending = false }: Paging<T>): Page<T> {
  const sign = descending ? -1 : 1
  const placed = items.map((item) => ({ item, at: place(item) })).sort((a, b) => sign * comparePlaces(a.at, b.at))
  const after = cursor === undefined ? null : readCursor(cursor, of)
  const first = after === null ? 0 : firstAfter(placed, (at) => sign * comparePlaces(at, after) > 0)
  const page = placed.slice(first, first + limit)
  const last = page.at(-1)
  const isLast = last === undefined || first + limit >= placed.length
  return { items: page.map(({ item }) => item), total: items.length, ...(!isLast && { next: writeCursor(last.at, of) }) }
}

/** Sorts numbers before strings, and strings by code unit. */
function comparePlaces(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const [one = '', other = ''] = [a[index], b[index]]
    if (one === other) continue
    if (typeof one !== typeof other) return typeof one === 'number' ? -1 : 1
    return one < other ? -1 : 1
  }
  return 0
}

function firstAfter<T>(placed: readonly { readonly at: T }[], isAfter: (at: T) => boolean): number {
  const found = placed.findIndex(({ at }) => isAfter(at))
  return found === -1 ? placed.length : found
}

function writeCursor(place: readonly (string | number)[], of: string): string {
  return Buffer.from(JSON.stringify([of, ...place])).toString('base64url')
}

function readCursor(cursor: string, of: string): readonly (string | number)[] {
  const parsed = parse(cursor)
  if (!Array.isArray(parsed) || !parsed.every((part) => typeof part === 'string' || typeof part === 'number'))
    throw invalid('is not a cursor')
  const [list, ...place] = parsed as readonly (string | number)[]
  if (list !== of) throw invalid('belongs to a list with another order')
  return place
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}

function invalid(why: string): AppError {
  return new AppError('REQUEST_INVALID', `query.cursor ${why}`, {
    hint: 'Use next of the previous page with the same sort and order, or omit the cursor to start again.',
  })
}
