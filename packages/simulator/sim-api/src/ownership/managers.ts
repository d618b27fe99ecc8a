import { isObject } from '../model/json.ts'
import { byElement } from './path-element.ts'
import { type FieldSet, isEmptySet } from './field-set.ts'

/** Field manager of an object, and the fields that it owns. */
export interface Manager {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
  /** Last change of the owned fields, RFC 3339; absent when unknown. */
  readonly time: string | undefined
  /** {@link FieldSet} as sorted JSON: text is smaller than objects, and equal for many pods. */
  readonly fields: string
}

/** Managers of an object, by {@link managerKey}. */
export type Managers = readonly Manager[]

/** @returns identity of a manager among those of the same object */
export function managerKey({ manager, operation, apiVersion, subresource }: Omit<Manager, 'time' | 'fields'>): string {
  const version = operation === 'Apply' ? {} : { apiVersion }
  return JSON.stringify({ manager, operation, ...version, ...(subresource !== '' && { subresource }) })
}

/** @returns parsed field set */
export function parseSet(text: string): FieldSet {
  const known = parsed.get(text)
  if (known !== undefined) return known
  const set = JSON.parse(text) as FieldSet
  if (parsed.size >= MOST_PARSED) parsed.clear()
  parsed.set(text, set)
  return set
}

/** Cache of recently parsed texts; pods of a fleet mostly have the same ones. */
const parsed = new Map<string, FieldSet>()
const MOST_PARSED = 512

/** @returns set as JSON with sorted elements */
export function setText(set: FieldSet): string {
  const elements = Object.keys(set).sort(byElement)
  return `{${elements.map((element) => `${JSON.stringify(element)}:${setText(set[element]!)}`).join(',')}}`
}

/** @returns managers in the order of `managedFields` */
export function sortManagers(managers: Managers): Managers {
  return managers.toSorted(
    (a, b) =>
      order(a.operation, b.operation) ||
      order(a.time ?? '', b.time ?? '') ||
      order(a.manager, b.manager) ||
      order(a.apiVersion, b.apiVersion) ||
      order(a.subresource, b.subresource),
  )
}

/** @returns value of `metadata.managedFields`, as JSON */
export function managersText(managers: Managers): string {
  return `[${managers.map(managerText).join(',')}]`
}

function managerText({ manager, operation, apiVersion, subresource, time, fields }: Manager): string {
  const before = JSON.stringify({ manager, operation, apiVersion, time, fieldsType: 'FieldsV1' }).slice(0, -1)
  return `${before},"fieldsV1":${fields}${subresource === '' ? '' : `,"subresource":${JSON.stringify(subresource)}`}}`
}

/**
 * Parses `metadata.managedFields`.
 *
 * @returns undefined when it is not a list of managers
 */
export function readManagers(managedFields: unknown): Managers | undefined {
  if (!Array.isArray(managedFields)) return undefined
  const managers = managedFields.map(readManager)
  return managers.every((manager) => manager !== undefined) ? managers : undefined
}

function readManager(entry: unknown): Manager | undefined {
  if (!isObject(entry)) return undefined
  const { manager = '', operation, apiVersion, subresource = '', time, fieldsType, fieldsV1 = {} } = entry
  if (operation !== 'Apply' && operation !== 'Update') return undefined
  if (typeof apiVersion !== 'string' || apiVersion === '' || fieldsType !== 'FieldsV1' || !isObject(fieldsV1)) return undefined
  const fields = setText(fieldsV1 as FieldSet)
  return { manager: String(manager), operation, apiVersion, subresource: String(subresource), time: textOrNothing(time), fields }
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** @returns manager with other fields; undefined when it owns none */
export function withFields(manager: Manager, set: FieldSet): Manager | undefined {
  return isEmptySet(set) ? undefined : { ...manager, fields: setText(set) }
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
