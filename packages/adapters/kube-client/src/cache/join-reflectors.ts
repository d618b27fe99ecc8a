import { compareResourceVersions } from '@tranche/kube-types'
import type { Reflector } from './reflector.ts'
import type { Store } from './store.ts'

/**
 * Reads several reflectors of one resource, one per namespace, as a single reflector.
 *
 * @param byNamespace at least one reflector
 */
export function joinReflectors<T>(byNamespace: ReadonlyMap<string, Reflector<T>>): Reflector<T> {
  const all = [...byNamespace.values()]
  return {
    async start(signal) {
      try {
        await Promise.all(all.map((reflector) => reflector.start(signal)))
      } finally {
        for (const reflector of all) reflector.stop()
      }
    },
    stop() {
      for (const reflector of all) reflector.stop()
    },
    store: joinStores(new Map([...byNamespace].map(([namespace, { store }]) => [namespace, store]))),
    get resourceVersion() {
      return all.map(({ resourceVersion }) => resourceVersion).reduce(older)
    },
    positionOf: (namespace) => byNamespace.get(namespace)?.resourceVersion ?? '',
    listsOf: (namespace) => byNamespace.get(namespace)?.listsOf(namespace) ?? { begun: 0, done: 0 },
    get listsDone() {
      return all.reduce((sum, { listsDone }) => sum + listsDone, 0)
    },
    get connectionChanges() {
      return all.reduce((sum, { connectionChanges }) => sum + connectionChanges, 0)
    },
    refresh: async (signal) => void (await Promise.all(all.map((reflector) => reflector.refresh(signal)))),
    get synced() {
      return all.every(({ synced }) => synced)
    },
    whenSynced: async (signal) => void (await Promise.all(all.map((reflector) => reflector.whenSynced(signal)))),
    whenReached: async (resourceVersion, signal) =>
      void (await Promise.all(all.map((reflector) => reflector.whenReached(resourceVersion, signal)))),
    async whenReachedIn(namespace, resourceVersion, signal) {
      const one = byNamespace.get(namespace)
      if (one === undefined) throw new Error(`namespace ${JSON.stringify(namespace)} is not watched`)
      return one.whenReachedIn(namespace, resourceVersion, signal)
    },
    subscribe(handler) {
      const ends = all.map((reflector) => reflector.subscribe(handler))
      return () => {
        for (const end of ends) end()
      }
    },
  }
}

function joinStores<T>(byNamespace: ReadonlyMap<string, Store<T>>): Store<T> {
  const all = [...byNamespace.values()]
  let parts: readonly (readonly T[])[] = []
  let joined: readonly T[] = []
  return {
    get size() {
      return all.reduce((sum, { size }) => sum + size, 0)
    },
    get: (key) => byNamespace.get(key.namespace ?? '')?.get(key),
    list() {
      const now = all.map((store) => store.list())
      if (now.some((part, index) => part !== parts[index])) [parts, joined] = [now, now.flat()]
      return joined
    },
    byIndex(index, value) {
      const found = all.map((store) => store.byIndex(index, value)).filter(({ length }) => length > 0)
      const [first = [], ...more] = found
      return more.length === 0 ? first : found.flat()
    },
  }
}

/** A namespace that has not been listed yet is older than everything. */
function older(a: string, b: string): string {
  return compareResourceVersions(a, b) <= 0 ? a : b
}
