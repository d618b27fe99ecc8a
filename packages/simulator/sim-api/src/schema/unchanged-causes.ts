import type { StatusCause } from '../model/status-error.ts'
import type { JsonObject } from '../model/json.ts'
import { sameJson } from './validate.ts'

/**
 * Drops errors about values that an update leaves as they are: the server has them from a time when its schema allowed them. Entries of a list
 * have no counterpart in the stored list unless that is the same as a whole.
 *
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-ratcheting
 */
export function withoutUnchanged(causes: readonly StatusCause[], object: JsonObject, old: JsonObject | undefined): readonly StatusCause[] {
  return old === undefined ? causes : causes.filter(({ field = '' }) => !isUnchanged(field, object, old))
}

function isUnchanged(field: string, object: JsonObject, old: JsonObject): boolean {
  let [now, before]: [unknown, unknown] = [object, old]
  for (const part of field.split('.')) {
    const [, name = '', index] = /^([^[]*)(\[.*)?$/.exec(part) ?? []
    now = memberOf(now, name)
    before = memberOf(before, name)
    if (before === undefined) return false
    if (sameJson(now, before)) return true
    if (index !== undefined) return false
  }
  return false
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as JsonObject)[name] : undefined
}
