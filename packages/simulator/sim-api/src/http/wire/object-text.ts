import type { ApiObject } from '../../model/client.ts'
import { unpackDeepValues } from '../../model/packed-values.ts'
import { managedFieldsText, Owners, ownersOf } from '../../ownership/owners.ts'

const texts = new WeakMap<object, string>()
const textsWithOwners = new WeakMap<object, string>()

/**
 * @param ownersToo whether to include `metadata.managedFields`
 * @returns object as JSON; cached per object of the store, because those never change
 */
export function objectText(object: ApiObject, ownersToo: boolean): string {
  return `{"kind":${JSON.stringify(object.kind)},"apiVersion":${JSON.stringify(object.apiVersion)},${itemText(object, ownersToo).slice(1)}`
}

/** @returns object as JSON without `kind` and `apiVersion`, as in items of built-in lists */
export function itemText(object: ApiObject, ownersToo: boolean): string {
  const known = ownersToo && ownersOf(object) !== Owners.none ? textsWithOwners : texts
  let text = known.get(object)
  if (text === undefined) known.set(object, (text = unpackDeepValues(wholeText(object, ownersToo))))
  return text
}

/** Managed fields are long and already text, so they are inserted unchanged. */
function wholeText(object: ApiObject, ownersToo: boolean): string {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object
  const managedFields = ownersToo ? managedFieldsText(object) : undefined
  if (managedFields === undefined) return JSON.stringify(rest)
  const { metadata, ...others } = rest
  const fields = JSON.stringify(others).slice(1)
  return `{"metadata":${JSON.stringify(metadata).slice(0, -1)},"managedFields":${managedFields}}${fields === '}' ? '' : ','}${fields}`
}
