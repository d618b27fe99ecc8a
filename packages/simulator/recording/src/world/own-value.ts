/**
 * Value of a label or an annotation. Objects of JavaScript inherit members such as `constructor`, which are no labels.
 *
 * @returns undefined without such a key
 */
export function ownValue<Value>(map: Readonly<Record<string, Value>> | undefined, key: string): Value | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined
}
