import { isObject, jsonEqual, type JsonObject, setField } from '../model/json.ts'
import { namelessError } from '../model/errors.ts'
import type { MergeKeys } from '../model/resource-definition.ts'

/**
 * Merges a strategic merge patch into an object. Maps merge by field, and lists of objects by merge key. Lists of plain values merge as
 * sets if the type says so; other lists are atomic. Directives: `$patch`, `$retainKeys`, `$setElementOrder/<field>`,
 * `$deleteFromPrimitiveList/<field>`.
 *
 * @throws {ApiStatusError} 500 for an unknown directive, or an item without its merge key
 * @see https://github.com/kubernetes/community/blob/main/contributors/devel/sig-api-machinery/strategic-merge-patch.md
 */
export function strategicMerge(target: JsonObject, patch: JsonObject, mergeKeys: MergeKeys): JsonObject {
  return mergeMap(target, patch, [], mergeKeys) ?? {}
}

const ORDER = '$setElementOrder/'
const DELETE_VALUES = '$deleteFromPrimitiveList/'

/** @returns undefined when the patch deletes the map */
function mergeMap(target: JsonObject, patch: JsonObject, path: readonly string[], mergeKeys: MergeKeys): JsonObject | undefined {
  const directive = patch['$patch']
  if (directive === 'replace') return withoutDirectives(patch)
  if (directive === 'delete') return undefined
  if (directive !== undefined && directive !== 'merge')
    throw namelessError(`unknown patch type: ${String(directive)} in map: ${JSON.stringify(patch)}`)

  const merged: Record<string, unknown> = { ...target }
  for (const [field, value] of Object.entries(patch)) if (!field.startsWith('$')) mergeField(merged, field, value, patch, path, mergeKeys)
  applyListDirectives(merged, patch, path, mergeKeys)
  const retained = patch['$retainKeys']
  if (Array.isArray(retained)) for (const field of Object.keys(merged)) if (!retained.includes(field)) delete merged[field]
  return merged
}

function mergeField(
  merged: Record<string, unknown>,
  field: string,
  value: unknown,
  patch: JsonObject,
  path: readonly string[],
  mergeKeys: MergeKeys,
): void {
  const old = Object.hasOwn(merged, field) ? merged[field] : undefined
  const next = mergedValue(old, value, [...path, field], mergeKeys, patch[ORDER + field])
  if (next === undefined) delete merged[field]
  else setField(merged, field, next)
}

function mergedValue(old: unknown, value: unknown, path: readonly string[], mergeKeys: MergeKeys, order: unknown): unknown {
  if (value === null) return undefined
  if (isObject(value)) return mergeMap(isObject(old) ? old : {}, value, path, mergeKeys)
  if (!Array.isArray(value)) return value
  const how = mergeKeys(path)
  const list: readonly unknown[] = Array.isArray(old) ? old : []
  if (how === 'atomic') return value.map((item: unknown) => (isObject(item) ? withoutDirectives(item) : item))
  if (how === 'set') return inOrder([...list, ...value.filter((item) => !list.includes(item))], order, (item) => item)
  return mergeList(list, value, { key: how.key, order, path, mergeKeys })
}

interface ListMerge {
  readonly key: string
  readonly order: unknown
  readonly path: readonly string[]
  readonly mergeKeys: MergeKeys
}

function mergeList(old: readonly unknown[], patch: readonly unknown[], { key, order, path, mergeKeys }: ListMerge): readonly unknown[] {
  if (patch.some((item) => isObject(item) && item['$patch'] === 'replace' && item[key] === undefined))
    return patch.filter((item) => isObject(item) && item['$patch'] !== 'replace').map((item) => withoutDirectives(item as JsonObject))
  const list = [...old]
  for (const item of patch) {
    if (!isObject(item) || item[key] === undefined)
      throw namelessError(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`)
    const at = list.findIndex((candidate) => isObject(candidate) && jsonEqual(candidate[key], item[key]))
    const merged = mergeMap(at < 0 ? {} : (list[at] as JsonObject), item, path, mergeKeys)
    if (merged !== undefined) list[at < 0 ? list.length : at] = merged
    else if (at >= 0) list.splice(at, 1)
  }
  return inOrder(list, order, (item) => objectKey(item, key))
}

function applyListDirectives(merged: Record<string, unknown>, patch: JsonObject, path: readonly string[], mergeKeys: MergeKeys): void {
  for (const [directive, value] of Object.entries(patch)) {
    if (!Array.isArray(value)) continue
    if (directive.startsWith(DELETE_VALUES)) {
      const field = directive.slice(DELETE_VALUES.length)
      if (Array.isArray(merged[field])) merged[field] = merged[field].filter((item) => !value.includes(item))
    } else if (directive.startsWith(ORDER)) {
      const field = directive.slice(ORDER.length)
      const how = mergeKeys([...path, field])
      if (!Array.isArray(merged[field]) || how === 'atomic') continue
      merged[field] = inOrder(merged[field], value, how === 'set' ? (item) => item : (item) => objectKey(item, how.key))
    }
  }
}

/** Items named by `order` follow it; each other item stays behind its previous neighbour. */
function inOrder(list: readonly unknown[], order: unknown, identify: (item: unknown) => unknown): readonly unknown[] {
  if (!Array.isArray(order)) return list
  const wanted = order.map(identify)
  const named = wanted.flatMap((id) => list.filter((item) => identify(item) === id))
  const result = [...named]
  for (const [index, item] of list.entries()) {
    if (wanted.includes(identify(item))) continue
    const before = index === 0 ? -1 : result.indexOf(list[index - 1])
    result.splice(before + 1, 0, item)
  }
  return result
}

function objectKey(item: unknown, key: string): unknown {
  return isObject(item) ? item[key] : undefined
}

/** A new value is added whole, without its directives, which are never stored. */
function withoutDirectives(value: JsonObject): JsonObject {
  const kept: Record<string, unknown> = {}
  for (const [field, item] of Object.entries(value)) {
    if (field === '$patch' || field === '$retainKeys' || field.startsWith(ORDER) || field.startsWith(DELETE_VALUES) || item === null)
      continue
    setField(kept, field, isObject(item) ? withoutDirectives(item) : item)
  }
  return kept
}
