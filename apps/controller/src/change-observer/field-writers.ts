import { isSameJson } from '@tranche/kube-types'

/** Who owns which fields of an object. @see meta/v1 ManagedFieldsEntry */
export interface FieldOwner {
  readonly manager?: string
  readonly fieldsV1?: object
}

/**
 * Who has made one version of an object out of the one before, as far as the owners of its fields tell: whoever changes a value or adds
 * one owns it from then on, alone. Who takes one away leaves no trace.
 *
 * @param owners `managedFields` of the later version
 * @param before a part of the earlier version, from the root on
 * @param after the same part of the later one
 * @returns names of managers, each once; none where nothing tells
 */
export function writersOf(owners: readonly FieldOwner[], before: unknown, after: unknown): readonly string[] {
  const writers = owners.filter(({ fieldsV1 = {} }) => ownsChange(fieldsV1, before, after))
  return [...new Set(writers.flatMap(({ manager }) => manager ?? []))]
}

/** Whether something below differs and is owned; a set without members stands for all that is below. */
function ownsChange(fields: object, before: unknown, after: unknown): boolean {
  if (after === undefined || isSameJson(before, after)) return false
  const members = Object.entries(fields)
  if (members.length === 0) return true
  return members.some(([member, below]) => {
    if (member === '.') return before === undefined
    return ownsChange(below as object, partOf(before, member), partOf(after, member))
  })
}

/** What a member of a set stands for: `f:name` a field, `k:{…}` the item of a list with these keys, `v:…` an item that is this value. */
function partOf(value: unknown, member: string): unknown {
  const named = member.slice(2)
  switch (member.slice(0, 2)) {
    case 'f:':
      return isRecord(value) ? value[named] : undefined
    case 'k:': {
      const keys = Object.entries(JSON.parse(named) as object)
      return itemsOf(value).find((item) => isRecord(item) && keys.every(([name, key]) => isSameJson(item[name], key)))
    }
    case 'v:': {
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
