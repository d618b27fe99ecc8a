import { AppError } from '@tranche/errors'
import type { KubeObject } from '@tranche/kube-types'
import type { KubeList, ListOptions } from './kube-client.ts'
import { isExpired } from './exchange/kube-status-error.ts'
import { createListSplitter } from './exchange/list-splitter.ts'
import type { ParseJson } from './parse-json.ts'
import type { Query } from './resource-path.ts'

/** Default of the maximum number of objects per request. */
const CHUNK = 500

/** Kept part of one response to a list request. @see meta/v1 List */
export interface ListPage<T> {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
  readonly kept: readonly T[]
  /** Error of `transform`, which ended the read. */
  readonly fault?: { readonly error: unknown }
}

/**
 * Reads a whole list chunk by chunk. If the server has dropped the first chunk's version meanwhile, the list is read again in one piece, so
 * that it always shows one moment.
 *
 * @param readPage sends one GET with these parameters and reads the response, using {@link readPageFrom}
 */
export async function readList<T>(readPage: (query: Query) => Promise<ListPage<T>>, options: ListOptions<T>): Promise<KubeList<T>> {
  try {
    return await readChunks(readPage, options, options.chunk ?? CHUNK)
  } catch (error) {
    if (!isExpired(error)) throw error
    return readChunks(readPage, options, undefined)
  }
}

async function readChunks<T>(
  readPage: (query: Query) => Promise<ListPage<T>>,
  { labelSelector, fieldSelector, mayBeOld = false }: ListOptions<T>,
  limit: number | undefined,
): Promise<KubeList<T>> {
  const items: T[] = []
  for (let next: string | undefined; ; ) {
    const { metadata, kept, fault } = await readPage({
      labelSelector,
      fieldSelector,
      limit,
      continue: next,
      resourceVersion: mayBeOld && next === undefined ? '0' : undefined,
    })
    if (fault !== undefined) throw fault.error
    for (const item of kept) items.push(item)
    next = metadata?.continue
    if (next === undefined || next === '') return { items, resourceVersion: metadata?.resourceVersion ?? '' }
  }
}

/**
 * Reads a response as it arrives, one item at a time: dropped objects are garbage before the next item is read.
 *
 * @throws {AppError} API_REFUSED if it is not JSON
 */
export async function readPageFrom<T>(
  attempt: string,
  body: AsyncIterable<string>,
  { mark, onKept = () => {}, transform = (object) => object as T }: Pick<ListOptions<T>, 'mark' | 'onKept' | 'transform'>,
  parse: ParseJson = JSON.parse,
): Promise<ListPage<T>> {
  const splitter = createListSplitter()
  const kept: T[] = []
  for await (const chunk of body) {
    for (const text of splitter.push(chunk)) {
      if (mark !== undefined && !text.includes(mark)) continue
      const object = parseAnswer<KubeObject>(text, attempt, parse)
      try {
        const value = transform(object)
        if (value === null) continue
        onKept(text.length)
        kept.push(value)
      } catch (error) {
        return { kept: [], fault: { error } }
      }
    }
  }
  return { ...parseAnswer<Pick<ListPage<T>, 'metadata'>>(splitter.rest(), attempt), kept }
}

/**
 * Parses a response as the type that the caller expects, without a check.
 *
 * @throws {AppError} API_REFUSED if it is not JSON. It quotes nothing of the text, which may be that of a Secret
 */
export function parseAnswer<T>(text: string, attempt: string, parse: ParseJson = JSON.parse): T {
  try {
    return parse(text) as T
  } catch {
    throw new AppError('API_REFUSED', `${attempt} returned a body that is not JSON`, { details: { attempt } })
  }
}
