import type { KubeObject } from '@tranche/kube-types'
import type { KubeList, ListOptions } from './kube-client.ts'
import { isExpired } from './kube-status-error.ts'
import type { Query } from './resource-path.ts'

/** Objects asked for at a time. */
const CHUNK = 500

/** One answer to a list request. @see meta/v1 List */
export interface ListPage {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
  readonly items?: readonly KubeObject[] | null
}

/**
 * Reads a whole list chunk by chunk. When the server has forgotten the moment of the first chunk meanwhile, the list is
 * read anew in one piece, so that it always shows one moment.
 *
 * @param readPage sends one GET with these parameters and returns its answer
 */
export async function readList<T>(readPage: (query: Query) => Promise<ListPage>, options: ListOptions<T>): Promise<KubeList<T>> {
  try {
    return await readChunks(readPage, options, CHUNK)
  } catch (error) {
    if (!isExpired(error)) throw error
    return readChunks(readPage, options, undefined)
  }
}

async function readChunks<T>(
  readPage: (query: Query) => Promise<ListPage>,
  options: ListOptions<T>,
  limit: number | undefined,
): Promise<KubeList<T>> {
  const { labelSelector, fieldSelector } = options
  const transform = options.transform ?? ((object: KubeObject) => object as T)
  const items: T[] = []
  for (let next: string | undefined; ; ) {
    const page = await readPage({ labelSelector, fieldSelector, limit, continue: next })
    for (const object of page.items ?? []) {
      const kept = transform(object)
      if (kept !== null) items.push(kept)
    }
    next = page.metadata?.continue
    if (next === undefined || next === '') return { items, resourceVersion: page.metadata?.resourceVersion ?? '' }
  }
}
