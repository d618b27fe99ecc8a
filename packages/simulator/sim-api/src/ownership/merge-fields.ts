import { valueIn } from '@tranche/kube-types'
import { isObject, setField } from '../model/json.ts'
import { fieldElement } from './path-element.ts'
import { itemElement, itemsOf, type ListShape, type MapShape, SEVERAL, type Shape, shapeAt, shapeFor } from './shape.ts'

/**
 * Merges a configuration into a value: its fields win, all others stay. List items follow the order of the configuration; items that it
 * does not name keep their position relative to the others.
 *
 * @returns undefined when nothing is left
 */
export function mergeFields(shape: Shape, value: unknown, config: unknown): unknown {
  if (config === undefined) return value
  if (value === undefined) return config
  const held = shapeFor(shape, config)
  if (held.kind !== shapeFor(shape, value).kind) return config
  if (held.kind === 'map' && !held.atomic) return mergeMaps(held, value, config)
  if (held.kind === 'list' && held.by !== 'atomic') return mergeLists(held, value, config)
  return config
}

function mergeMaps(shape: MapShape, value: unknown, config: unknown): unknown {
  const [old, set] = [isObject(value) ? value : {}, isObject(config) ? config : {}]
  if (Object.keys(old).length === 0 && Object.keys(set).length === 0) return config
  const merged: Record<string, unknown> = {}
  for (const name of new Set([...Object.keys(old), ...Object.keys(set)])) {
    const field = mergeFields(shapeAt(shape, fieldElement(name)), valueIn(old, name), valueIn(set, name))
    if (field !== undefined) setField(merged, name, field)
  }
  return Object.keys(merged).length > 0 ? merged : undefined
}

function mergeLists(shape: ListShape, value: unknown, config: unknown): unknown {
  const [old, set] = [listOf(value), listOf(config)]
  if (old.length === 0 && set.length === 0) return config
  const merged = mergedItems(shape, old, set)
  return merged.length > 0 ? merged : undefined
}

/** Walks both lists in parallel and inserts items of the old list where they occur. */
function mergedItems(shape: ListShape, old: readonly unknown[], set: readonly unknown[]): readonly unknown[] {
  const [oldItems, setItems] = [itemsOf(shape, old), itemsOf(shape, set)]
  const [oldOrder, setOrder] = [elementsOf(shape, old), elementsOf(shape, set)]
  const shared = setOrder.filter((element) => oldItems.has(element))
  const done = new Set<string>()
  const merged: unknown[] = []
  const takeSet = (element: string): void => {
    done.add(element)
    const before = oldItems.get(element)
    const item = mergeFields(shape.items, before === SEVERAL ? undefined : before, setItems.get(element))
    if (item !== undefined) merged.push(item)
  }
  let [at, setAt] = [0, 0]
  while (at < oldOrder.length || setAt < setOrder.length) {
    const [element, wanted] = [oldOrder[at], setOrder[setAt]]
    if (element !== undefined && element === wanted) {
      takeSet(element)
      shared.shift()
      at++
      setAt++
    } else if (element !== undefined && wanted !== undefined && setItems.has(element) && shared[0] !== undefined && shared[0] !== element) {
      at++
    } else if (element !== undefined && !setItems.has(element)) {
      merged.push(old[at++])
    } else {
      if (element !== undefined && done.has(element)) at++
      if (wanted === undefined) continue
      takeSet(wanted)
      setAt++
      if (shared[0] === wanted) shared.shift()
    }
  }
  return merged
}

function elementsOf(shape: ListShape, list: readonly unknown[]): readonly string[] {
  return list.map((item) => itemElement(shape, item) ?? '')
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}
