import { AppError } from '@tranche/errors'

/** A part of a list, as answers carry it. */
export interface Page<T> {
  readonly items: T[]
  readonly total: number
  readonly next?: string
}

/** How a list is sorted and cut. */
export interface Paging<T> {
  /** What the page before named as `next`. */
  readonly cursor: string | undefined
  readonly limit: number
  /** Says of which list, in which order, a cursor is: one of another is refused. */
  readonly of: string
  /** Place of an item: compared part by part, the same for no two items. */
  readonly place: (item: T) => readonly (string | number)[]
  readonly descending?: boolean
}

/**
 * Cuts a page out of a list. A cursor names the place where the page before ended, not a number: what comes or goes in between
 * neither repeats nor hides another item.
 *
 * @throws {AppError} REQUEST_INVALID for a cursor that is none, or is of another list
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

/** Numbers before texts; texts by code unit. */
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
  if (!Array.isArray(parsed) || !parsed.every((part) => typeof part === 'string' || typeof part === 'number')) throw invalid('is no cursor')
  const [list, ...place] = parsed as readonly (string | number)[]
  if (list !== of) throw invalid('is of a list with another order')
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
    hint: 'Give what the page before named as next, with the same sort and order; leave it out to begin again.',
  })
}
