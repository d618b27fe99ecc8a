import { isNotFound, type ListOptions, type ResourcePath, type Scope } from '@tranche/kube-client'
import { type GuardedReads, isDenied, ReadDenied, unlessDenied } from './guarded-reads.ts'

/** Reads, and the namespaces to list where those of all may not be listed. */
export interface WideReader {
  readonly reads: GuardedReads
  readonly namespaces: readonly string[]
}

/** Objects of all namespaces, or of some. */
export interface WideList<T> {
  readonly items: readonly T[]
  /** Namespaces of the objects; null: all. */
  readonly namespaces: readonly string[] | null
  /** Why it does not cover all namespaces; null if it does. */
  readonly missing: ReadDenied | null
}

/**
 * Lists objects of all namespaces. Without that right, lists those of the namespaces of the options. Empty if the resource is not served.
 *
 * @throws {ReadDenied} if none of these may be listed
 */
export async function listWide<T>(
  { reads, namespaces }: WideReader,
  resource: ResourcePath,
  options: Pick<ListOptions<T>, 'labelSelector' | 'transform'>,
): Promise<WideList<T>> {
  const list = async (scope: Scope): Promise<readonly T[]> =>
    reads.list<T>(resource, { ...options, ...scope }).then(
      ({ items }) => items,
      (error: unknown) => (isNotFound(error) ? [] : fail(error)),
    )
  const inSome = async (missing: ReadDenied): Promise<WideList<T>> => {
    const lists = await Promise.all(
      [...new Set(namespaces)].map(async (namespace) => ({ namespace, items: await unlessDenied(list({ namespace })) })),
    )
    const found = lists.flatMap(({ namespace, items }) => (isDenied(items) ? [] : [{ namespace, items }]))
    if (found.length === 0) throw missing
    return { items: found.flatMap(({ items }) => items), namespaces: found.map(({ namespace }) => namespace), missing }
  }
  try {
    return { items: await list({}), namespaces: null, missing: null }
  } catch (error) {
    return error instanceof ReadDenied ? inSome(error) : fail(error)
  }
}

function fail(error: unknown): never {
  throw error
}
