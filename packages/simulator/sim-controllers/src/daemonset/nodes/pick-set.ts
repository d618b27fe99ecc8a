/** Set of names for random draws, each in constant time. */
export interface PickSet {
  readonly size: number
  add(name: string): void
  delete(name: string): void
  values(): Iterable<string>
  /**
   * @param count of different names (≥ 0); fewer when the set is smaller
   * @param random numbers in [0, 1)
   */
  pick(count: number, random: () => number): readonly string[]
}

/** @returns an empty set */
export function createPickSet(): PickSet {
  const names: string[] = []
  const places = new Map<string, number>()

  function swap(a: number, b: number): void {
    const [first, second] = [names[a]!, names[b]!]
    names[a] = second
    names[b] = first
    places.set(second, a).set(first, b)
  }

  return {
    get size() {
      return names.length
    },
    add(name) {
      if (!places.has(name)) places.set(name, names.push(name) - 1)
    },
    delete(name) {
      const place = places.get(name)
      if (place === undefined) return
      swap(place, names.length - 1)
      names.pop()
      places.delete(name)
    },
    values: () => names.values(),
    pick(count, random) {
      const end = Math.min(count, names.length)
      for (let at = 0; at < end; at++) swap(at, at + Math.floor(random() * (names.length - at)))
      return names.slice(0, Math.max(0, end))
    },
  }
}
