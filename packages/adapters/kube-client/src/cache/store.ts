import { keyText, type ObjectKey } from '@tranche/kube-types'

/** What a reflector has kept of the cluster: exactly what its watch reported, never the result of a local write. */
export interface Store<T> {
  readonly size: number
  get(key: ObjectKey): T | undefined
  /** All values, in no meaningful order. The array is the same until something changes; do not modify it. */
  list(): readonly T[]
  /**
   * @param index name of one of the reflector's `indexers`
   * @returns the values for which that indexer returns `value`. The array is the same until one of them changes; do not modify it
   */
  byIndex(index: string, value: string): readonly T[]
}

/** Returns the index keys of a value. */
export type Indexer<T> = (value: T) => string | readonly string[] | undefined

/** One kept object. */
export interface StoreEntry<T> {
  readonly key: ObjectKey
  readonly uid: string
  readonly value: T
}

/** Writable store. */
export interface MutableStore<T> extends Store<T> {
  entry(key: ObjectKey): StoreEntry<T> | undefined
  entries(): Iterable<StoreEntry<T>>
  set(entry: StoreEntry<T>): void
  delete(key: ObjectKey): void
}

/** Creates an empty store. A change costs O(1) per index; `list()` and the arrays of `byIndex()` are rebuilt only after a change. */
export function createStore<T>(indexers: Readonly<Record<string, Indexer<T>>>): MutableStore<T> {
  const entries = new Map<string, StoreEntry<T>>()
  const indexes = Object.entries(indexers).map(([name, indexer]) => createIndex(name, indexer))
  let listed: readonly T[] | null = null

  return {
    get size() {
      return entries.size
    },
    get: (key) => entries.get(keyText(key))?.value,
    list: () => (listed ??= Array.from(entries.values(), (entry) => entry.value)),
    byIndex(name, value) {
      const index = indexes.find((one) => one.name === name)
      if (index === undefined) throw new Error(`the store has no index ${name}`)
      return index.get(value)
    },
    entry: (key) => entries.get(keyText(key)),
    entries: () => entries.values(),
    set(entry) {
      const text = keyText(entry.key)
      const previous = entries.get(text)
      for (const index of indexes) index.move(text, previous?.value, entry.value)
      entries.set(text, entry)
      listed = null
    },
    delete(key) {
      const text = keyText(key)
      const previous = entries.get(text)
      if (previous === undefined) return
      for (const index of indexes) index.move(text, previous.value, undefined)
      entries.delete(text)
      listed = null
    },
  }
}

interface Index<T> {
  readonly name: string
  get(value: string): readonly T[]
  move(key: string, previous: T | undefined, current: T | undefined): void
}

function createIndex<T>(name: string, indexer: Indexer<T>): Index<T> {
  const byWord = new Map<string, Indexed<T>>()

  function move(key: string, previous: T | undefined, current: T | undefined): void {
    for (const word of wordsOf(indexer, previous)) remove(word, key)
    for (const word of wordsOf(indexer, current)) {
      const indexed = byWord.get(word) ?? { values: new Map(), listed: null }
      indexed.values.set(key, current as T)
      indexed.listed = null
      byWord.set(word, indexed)
    }
  }

  function remove(word: string, key: string): void {
    const indexed = byWord.get(word)
    if (indexed === undefined) return
    indexed.values.delete(key)
    indexed.listed = null
    if (indexed.values.size === 0) byWord.delete(word)
  }

  function get(word: string): readonly T[] {
    const indexed = byWord.get(word)
    return indexed === undefined ? NONE : (indexed.listed ??= [...indexed.values.values()])
  }

  return { name, move, get }
}

/** Values of one index key, and their array if it was read since the last change. */
interface Indexed<T> {
  readonly values: Map<string, T>
  listed: readonly T[] | null
}

const NONE: readonly never[] = []

function wordsOf<T>(indexer: Indexer<T>, value: T | undefined): readonly string[] {
  if (value === undefined) return []
  const words = indexer(value)
  return words === undefined ? [] : typeof words === 'string' ? [words] : words
}
