/**
 * Value of a key that a user chose: a label, an annotation, a resource, a word of a status. Every object of JavaScript seems to have members
 * such as `constructor` and `toString`, which it inherits.
 *
 * @returns undefined if the map has no such key of its own, or is absent
 */
export function valueIn<Value>(map: Readonly<Record<string, Value>> | null | undefined, key: string): Value | undefined {
  return map !== undefined && map !== null && Object.hasOwn(map, key) ? map[key] : undefined
}
