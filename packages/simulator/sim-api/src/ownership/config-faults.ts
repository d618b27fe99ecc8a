import { isObject } from '../model/json.ts'
import { elementText } from './path-element.ts'
import { itemElement, type ListShape, type MapShape, type ScalarShape, type Shape, shapeFor } from './shape.ts'

/** @returns type errors of a configuration, each with its path, in the words of API servers; empty when it fits its type */
export function configFaults(shape: Shape, value: unknown, path = ''): readonly string[] {
  if (value === null) return []
  const held = shapeFor(shape, value)
  if (held.kind === 'scalar') return scalarFaults(held.scalar, value, path)
  return held.kind === 'map' ? mapFaults(held, value, path) : listFaults(held, value, path)
}

function mapFaults(shape: MapShape, value: unknown, path: string): readonly string[] {
  if (!isObject(value)) return [`${path}: expected map, got ${goValue(value)}`]
  return Object.entries(value).flatMap(([name, item]) => {
    const at = `${path}.${name}`
    const field = shape.field(name) ?? shape.others
    return field === undefined ? [`${at}: field not declared in schema`] : configFaults(field, item, at)
  })
}

function listFaults(shape: ListShape, value: unknown, path: string): readonly string[] {
  if (!Array.isArray(value)) return [`${path}: expected list, got ${goValue(value)}`]
  const seen = new Set<string>()
  const faults: string[] = []
  for (const [index, item] of (value as readonly unknown[]).entries()) {
    const element = shape.by === 'atomic' ? undefined : itemElement(shape, item)
    if (shape.by !== 'atomic' && element === undefined) return [...faults, `${path}: element ${index}: ${itemFault(shape, item)}`]
    if (element !== undefined && seen.has(element)) faults.push(`${path}: duplicate entries for key ${elementText(element)}`)
    if (element !== undefined) seen.add(element)
    faults.push(...configFaults(shape.items, item, `${path}${element === undefined ? `[${index}]` : elementText(element)}`))
  }
  return faults
}

function itemFault(shape: ListShape, item: unknown): string {
  if (shape.by !== 'set' && shape.by !== 'atomic') {
    if (item === null) return 'associative list with keys may not have a null element'
    if (!isObject(item)) return 'associative list with keys may not have non-map elements'
    const names = shape.by.map(({ name }) => JSON.stringify(name)).join(' ')
    return `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`
  }
  if (item === null) return "associative list without keys has an element that's an explicit null"
  if (Array.isArray(item)) return 'not supported: associative list with lists as elements'
  return "associative list without keys has an element that's a map type"
}

function scalarFaults(scalar: ScalarShape, value: unknown, path: string): readonly string[] {
  switch (scalar) {
    case 'string':
      return typeof value === 'string' ? [] : [`${path}: expected string, got &value.valueUnstructured{Value:${goLiteral(value)}}`]
    case 'numeric':
      return typeof value === 'number' ? [] : [`${path}: expected numeric (int or float), got ${goType(value)}`]
    case 'boolean':
      return typeof value === 'boolean' ? [] : [`${path}: expected boolean, got ${goValue(value)}`]
    case 'untyped':
      return typeof value === 'object' ? [`${path}: expected any scalar, got ${goValue(value)}`] : []
  }
}

function goValue(value: unknown): string {
  return `&{${goLiteral(value).replaceAll('"', '')}}`
}

function goLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goLiteral).join(', ')}}`
  if (!isObject(value)) return JSON.stringify(value) ?? 'nil'
  const fields = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}:${goLiteral(item)}`)
  return `map[string]interface {}{${fields.join(', ')}}`
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}'
  return isObject(value) ? 'map[string]interface {}' : typeof value === 'boolean' ? 'bool' : typeof value
}
