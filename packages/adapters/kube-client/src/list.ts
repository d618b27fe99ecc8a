import { AppError } from '@tranche/errors'
import type { KubeObject } from '@tranche/kube-types'
import type { KubeList, ListOptions } from './kube-client.ts'
import { isExpired } from './kube-status-error.ts'
import { createListSplitter } from './list-splitter.ts'
import type { Query } from './resource-path.ts'

/** Objects asked for at a time. */
const CHUNK = 500

/** What is kept of one answer to a list request. @see meta/v1 List */
export interface ListPage<T> {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
  readonly kept: readonly T[]
  /** What `transform` threw, which ended the reading. */
  readonly fault?: { readonly error: unknown }
}

/**
 * Reads a whole list chunk by chunk. When the server has forgotten the moment of the first chunk meanwhile, the list is
 * read anew in one piece, so that it always shows one moment.
 *
 * @param readPage sends one GET with these parameters and reads its answer, by {@link readPageFrom}
 */
export async function readList<T>(readPage: (query: Query) => Promise<ListPage<T>>, options: ListOptions<T>): Promise<KubeList<T>> {
  try {
    return await readChunks(readPage, options, CHUNK)
  } catch (error) {
    if (!isExpired(error)) throw error
    return readChunks(readPage, options, undefined)
  }
}

async function readChunks<T>(
  readPage: (query: Query) => Promise<ListPage<T>>,
  { labelSelector, fieldSelector }: ListOptions<T>,
  limit: number | undefined,
): Promise<KubeList<T>> {
  const items: T[] = []
  for (let next: string | undefined; ; ) {
    const { metadata, kept, fault } = await readPage({ labelSelector, fieldSelector, limit, continue: next })
    if (fault !== undefined) throw fault.error
    for (const item of kept) items.push(item)
    next = metadata?.continue
    if (next === undefined || next === '') return { items, resourceVersion: metadata?.resourceVersion ?? '' }
  }
}

/**
 * Reads an answer as it comes, one item at a time: what `transform` leaves out is garbage before the next item is read.
 *
 * @throws {AppError} API_REFUSED for what is not JSON
 */
export async function readPageFrom<T>(
  attempt: string,
  body: AsyncIterable<string>,
  { mark, onKept = () => {}, transform = (object) => object as T }: Pick<ListOptions<T>, 'mark' | 'onKept' | 'transform'>,
): Promise<ListPage<T>> {
  const splitter = createListSplitter()
  const kept: T[] = []
  for await (const chunk of body) {
    for (const text of splitter.push(chunk)) {
      if (mark !== undefined && !text.includes(mark)) continue
      const object = parseAnswer<KubeObject>(text, attempt)
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

/** What the server sent is taken to have the type that the caller names. @throws {AppError} API_REFUSED for what is not JSON */
export function parseAnswer<T>(text: string, attempt: string): T {
  try {
    return JSON.parse(text) as T
  } catch (error) {
    throw new AppError('API_REFUSED', `${attempt} was answered with something that is not JSON`, { details: { attempt }, cause: error })
  }
}
