import type { ObjectKey } from '@tranche/kube-types'
import type { MutableStore, StoreEntry } from './store.ts'

/** A value that came (`previous` undefined), changed, or went (`current` undefined). */
export interface Change<T> {
  readonly key: ObjectKey
  readonly previous: T | undefined
  readonly current: T | undefined
}

/** Makes the store hold exactly `items`. @returns what changed: first what went, then the rest */
export function replaceAll<T>(store: MutableStore<T>, items: readonly StoreEntry<T>[]): readonly Change<T>[] {
  const uids = new Set(items.map((item) => item.uid))
  const gone = [...store.entries()].filter((entry) => !uids.has(entry.uid))
  return [...gone.flatMap((entry) => remove(store, entry.key)), ...items.flatMap((item) => put(store, item))]
}

/** @returns what changed: nothing where the value is the one that was kept; an object that was made anew goes first, then comes */
export function put<T>(store: MutableStore<T>, entry: StoreEntry<T>): readonly Change<T>[] {
  const { key, value } = entry
  const before = store.entry(key)
  if (before?.uid === entry.uid && before.value === value) return []
  store.set(entry)
  if (before === undefined || before.uid === entry.uid) return [{ key, previous: before?.value, current: value }]
  return [
    { key, previous: before.value, current: undefined },
    { key, previous: undefined, current: value },
  ]
}

/** @returns what changed: nothing where nothing was kept */
export function remove<T>(store: MutableStore<T>, key: ObjectKey): readonly Change<T>[] {
  const before = store.entry(key)
  if (before === undefined) return []
  store.delete(key)
  return [{ key, previous: before.value, current: undefined }]
}
