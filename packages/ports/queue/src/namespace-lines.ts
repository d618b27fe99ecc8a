/** Waiting work by key, in one line per namespace. Namespaces take turns, however much work each of them has. */
export interface NamespaceLines<T> {
  /** Number of waiting keys. */
  readonly size: number
  has(key: string): boolean
  /** Adds a key, as `keyText` writes it, at the end of the line of its namespace, unless it is there. */
  add(key: string, value: T): void
  /** Takes the first key of the next namespace that has fewer keys taken than it may; null without one. */
  takeNext(): WaitingKey<T> | null
  /** Returns a taken key: its namespace may have another one taken. */
  leave(key: string): void
  /**
   * Makes room for a key: drops the last one of the longest line, if it stays no shorter than that of the key.
   *
   * @returns false if the line of the key is the longest
   */
  makeRoom(key: string): boolean
  clear(): void
}

/** A key that waits. */
export interface WaitingKey<T> {
  readonly key: string
  readonly value: T
}

/** @param atOnce maximum number of keys of one namespace that are taken at a time. @default no limit */
export function createNamespaceLines<T>(atOnce = Number.POSITIVE_INFINITY): NamespaceLines<T> {
  /** Lines that are not empty, in the order in which they are served. */
  const lines = new Map<string, Map<string, T>>()
  const taken = new Map<string, number>()
  let size = 0

  const takenOf = (namespace: string): number => taken.get(namespace) ?? 0

  function takeFrom(namespace: string, line: Map<string, T>): WaitingKey<T> | null {
    for (const [key, value] of line) {
      line.delete(key)
      lines.delete(namespace)
      if (line.size > 0) lines.set(namespace, line)
      taken.set(namespace, takenOf(namespace) + 1)
      size--
      return { key, value }
    }
    return null
  }

  return {
    get size() {
      return size
    },
    has: (key) => lines.get(namespaceOf(key))?.has(key) === true,
    add(key, value) {
      const namespace = namespaceOf(key)
      const line = lines.get(namespace) ?? new Map<string, T>()
      if (line.has(key)) return
      lines.set(namespace, line.set(key, value))
      size++
    },
    takeNext() {
      for (const [namespace, line] of lines) if (takenOf(namespace) < atOnce) return takeFrom(namespace, line)
      return null
    },
    leave(key) {
      const namespace = namespaceOf(key)
      const left = takenOf(namespace) - 1
      if (left > 0) taken.set(namespace, left)
      else taken.delete(namespace)
    },
    makeRoom(key) {
      const own = lines.get(namespaceOf(key))?.size ?? 0
      const longest = [...lines.values()].reduce((most, line) => (line.size > most.size ? line : most), new Map<string, T>())
      const last = [...longest.keys()].at(-1)
      if (last === undefined || longest.size <= own + 1) return false
      longest.delete(last)
      size--
      return true
    },
    clear() {
      lines.clear()
      size = 0
    },
  }
}

/** @returns the part before the first slash; empty without one */
function namespaceOf(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf('/')))
}
