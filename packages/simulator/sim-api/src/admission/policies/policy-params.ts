import type { ApiObject, ResourceId } from '../../model/client.ts'
import { selectsLabels } from '../../model/label-selector.ts'
import { storeKey } from '../../store/bucket.ts'
import { objectOrEmpty } from '../../model/json.ts'
import type { Store } from '../../store/store.ts'
import type { Policy, PolicyBinding } from './policy-configuration.ts'

/** Source of params objects. */
export interface ParamSource {
  readonly store: Store
  /** @returns resource of a served kind, and whether it is namespaced; undefined for any other kind */
  findKind(apiVersion: string, kind: string): { readonly id: ResourceId; readonly namespaced: boolean } | undefined
}

/**
 * Params objects of a binding, one per evaluation; a single undefined for a policy without params.
 *
 * @throws {Error} in the words of the real API server, when there are none and the binding requires them
 */
export function paramsOf(
  { store, findKind }: ParamSource,
  { paramKind }: Policy,
  { paramRef }: PolicyBinding,
  namespace: string | undefined,
): readonly (ApiObject | undefined)[] {
  if (paramKind === undefined || paramRef === undefined) return [undefined]
  const served = findKind(paramKind.apiVersion, paramKind.kind)
  if (served === undefined) throw new Error(`paramKind kind \`${paramKind.apiVersion}, Kind=${paramKind.kind}\` not known`)
  const { name, selector, parameterNotFoundAction } = paramRef
  const place = served.namespaced ? String(paramRef['namespace'] ?? namespace) : undefined
  const found =
    name === undefined
      ? inNamespace(store, served.id, place).filter(({ metadata }) => selectsLabels(objectOrEmpty(selector), metadata.labels ?? {}))
      : [store.bucket(served.id).get(storeKey(place, String(name)))].filter((object) => object !== undefined)
  if (found.length === 0 && parameterNotFoundAction === 'Deny')
    throw new Error('no params found for policy binding with `Deny` parameterNotFoundAction')
  return found
}

function inNamespace(store: Store, id: ResourceId, namespace: string | undefined): readonly ApiObject[] {
  const { keys, objects } = store.bucket(id).current()
  return keys.map((key) => objects.get(key)!).filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
}
