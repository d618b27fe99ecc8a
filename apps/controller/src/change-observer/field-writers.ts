import { isSameJson, valueIn } from '@tranche/kube-types'

/** A field manager with the fields that it owns. @see meta/v1 ManagedFieldsEntry */
export interface FieldOwner {
  readonly manager?: string
  readonly fieldsV1?: object
}

/**
 * Field managers that made a version of an object from the previous one, derived from field ownership: a manager that adds or changes a
 * value becomes its only owner. Removals leave no trace.
 *
 * @param owners `managedFields` of the later version
 * @param before a part of the earlier version, starting at the root
 * @param after the same part of the later version
 * @returns unique manager names; empty if ownership does not show the writer
 */
export function writersOf(owners: readonly FieldOwner[], before: unknown, after: unknown): readonly string[] {
  const writers = owners.filter(({ fieldsV1 = {} }) => ownsChange(fieldsV1, before, after))
  return [...new Set(writers.flatMap(({ manager }) => manager ?? []))]
}

/** Whether an owned field below differs; a set without members covers everything below. */
function ownsChange(fields: object, before: unknown, after: unknown): boolean {
  if (after === undefined || isSameJson(before, after)) return false
  const members = Object.entries(fields)
  if (members.length === 0) return true
  return members.some(([member, below]) => {
    if (member === '.') return before === undefined
    return ownsChange(below as object, partOf(before, member), partOf(after, member))
  })
}

/** @returns the value of a set member: `f:name` is a field, `k:{…}` a list item with these keys, `v:…` a list item with this value */
function partOf(value: unknown, member: string): unknown {
  const named = member.slice(2)
  switch (member.split(':', 1)[0]) {
    case 'f':
      return isRecord(value) ? valueIn(value, named) : undefined
    case 'k': {
      const keys = Object.entries(JSON.parse(named) as object)
      return itemsOf(value).find((item) => isRecord(item) && keys.every(([name, key]) => isSameJson(item[name], key)))
    }
    case 'v': {
      const wanted: unknown = JSON.parse(named)
      return itemsOf(value).find((item) => isSameJson(item, wanted))
    }
    default:
      return undefined
  }
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
