/** Namespaces whose Rollouts are listed in one cluster. */
export interface NamespaceStore {
  readonly subscribe: (onChange: () => void) => () => void
  /** @returns the chosen namespaces; null: all. The same object until another choice */
  readonly snapshot: () => readonly string[] | null
  choose(namespaces: readonly string[] | null): void
}

/** Creates the store of a cluster, with the last choice of this browser. */
export function createNamespaceStore(cluster: string, memory: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>): NamespaceStore {
  const name = `tranche.namespaces.${cluster}`
  const listeners = new Set<() => void>()
  let current = namespacesIn(memory.getItem(name) ?? '')
  return {
    subscribe(onChange) {
      listeners.add(onChange)
      return () => listeners.delete(onChange)
    },
    snapshot: () => current,
    choose(namespaces) {
      current = namespaces
      if (namespaces === null) memory.removeItem(name)
      else memory.setItem(name, namespaces.join(' '))
      for (const listener of listeners) listener()
    },
  }
}

/** @returns the namespaces in a text; null if it has none */
export function namespacesIn(text: string): readonly string[] | null {
  const names = [...new Set(text.split(/[\s,]+/).filter((name) => name !== ''))]
  return names.length === 0 ? null : names
}
