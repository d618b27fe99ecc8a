import type { ObjectKey } from '@tranche/kube-types'
import type { MutableStore, StoreEntry } from './store.ts'

/** A value that was added (`previous` undefined), changed, or removed (`current` undefined). */
export interface Change<T> {
  readonly key: ObjectKey
  readonly previous: T | undefined
  readonly current: T | undefined
}

/** Makes the store hold exactly `items`. @returns the changes: removals first, then the rest */
export function replaceAll<T>(store: MutableStore<T>, items: readonly StoreEntry<T>[]): readonly Change<T>[] {
  const uids = new Set(items.map((item) => item.uid))
  const gone = [...store.entries()].filter((entry) => !uids.has(entry.uid))
  return [...gone.flatMap((entry) => remove(store, entry.key)), ...items.flatMap((item) => put(store, item))]
}

/** @returns the changes: none if the value is the kept one; a recreated object is removed first, then added */
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

/** @returns the changes: none if nothing was kept */
export function remove<T>(store: MutableStore<T>, key: ObjectKey): readonly Change<T>[] {
  const before = store.entry(key)
  if (before === undefined) return []
  store.delete(key)
  return [{ key, previous: before.value, current: undefined }]
}
