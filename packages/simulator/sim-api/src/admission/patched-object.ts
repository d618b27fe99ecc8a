import type { ApiObject } from '../model/client.ts'
import { internalError } from '../model/errors.ts'
import { applyPatch } from '../patching/patch.ts'
import { freezeDeep } from '../model/json.ts'
import type { WebhookWrite } from './webhook-write.ts'

const givenByServer = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'generation',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const

/**
 * Applies the changes of admission. The identity of the object, and the fields that the server set, stay.
 *
 * @param by name of the admission step in errors: `admission webhook "a.b.c"`
 * @throws {ApiStatusError} when there is no object, or the patch does not apply
 */
export function patchedObject({ definition, object }: WebhookWrite, patch: readonly unknown[], by: string): ApiObject | undefined {
  if (patch.length === 0) return object
  if (object === undefined) throw internalError(`${by} attempted to modify the object, which is not supported for this operation`)
  let next: ApiObject
  try {
    next = applyPatch(definition, object, 'json-patch', patch) as ApiObject
  } catch (error) {
    throw internalError((error as Error).message)
  }
  const metadata: Record<string, unknown> = { ...next.metadata }
  for (const field of givenByServer) {
    delete metadata[field]
    if (object.metadata[field] !== undefined) metadata[field] = object.metadata[field]
  }
  return freezeDeep({ ...next, apiVersion: object.apiVersion, kind: object.kind, metadata } as unknown as ApiObject)
}
