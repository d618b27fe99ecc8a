import { keyText, type ObjectKey } from '@tranche/kube-types'

/** What a reflector has kept of the cluster: exactly what its watch reported, never the result of a local write. */
export interface Store<T> {
  readonly size: number
  get(key: ObjectKey): T | undefined
  /** All values, in no meaningful order. The array is the same until something changes; do not modify it. */
  list(): readonly T[]
  /**
   * @param index name of one of the reflector's `indexers`
   * @returns the values for which that indexer returns `value`
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

/** Creates an empty store. A change costs O(1) per index; `list()` is rebuilt only after a change. */
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
  const byWord = new Map<string, Map<string, T>>()

  function move(key: string, previous: T | undefined, current: T | undefined): void {
    for (const word of wordsOf(indexer, previous)) remove(word, key)
    for (const word of wordsOf(indexer, current)) {
      const values = byWord.get(word)
      if (values === undefined) byWord.set(word, new Map([[key, current as T]]))
      else values.set(key, current as T)
    }
  }

  function remove(word: string, key: string): void {
    const values = byWord.get(word)
    values?.delete(key)
    if (values?.size === 0) byWord.delete(word)
  }

  return { name, move, get: (word) => [...(byWord.get(word)?.values() ?? [])] }
}

function wordsOf<T>(indexer: Indexer<T>, value: T | undefined): readonly string[] {
  if (value === undefined) return []
  const words = indexer(value)
  return words === undefined ? [] : typeof words === 'string' ? [words] : words
}
