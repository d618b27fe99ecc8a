import type { ApiMeta, ApiObject } from '../model/client.ts'
import { isObject, type JsonObject } from '../model/json.ts'
import { badRequest, invalidObject } from '../model/errors.ts'
import { invalid } from '../model/field-errors.ts'
import { apiVersionOf } from './list.ts'
import { readMeta } from '../model/metadata.ts'
import type { Served } from '../resources/registry.ts'
import type { ApiRequest } from '../model/request.ts'

/** Object from a request, decoded as its kind. */
export interface DecodedObject {
  /** Without unknown fields, and with the stored `apiVersion`. */
  readonly object: JsonObject
  /** As sent. */
  readonly meta: Partial<ApiMeta>
  readonly warnings: readonly string[]
}

/**
 * Decodes an object from a request, or from the result of a patch.
 *
 * @param current stored object that it replaces: shared parts are not decoded again
 * @throws {ApiStatusError} 400 for another kind, namespace or name than in the path, or for a value of the wrong type. Unknown fields
 * give 400 under strict validation, and 422 in a patch.
 */
export function decodeObject(request: ApiRequest, served: Served, body: unknown, current?: ApiObject): DecodedObject {
  const { kind, group, versions, version: stored } = served.definition
  const version = request.version ?? stored
  if (!isObject(body)) throw badRequest(`the object provided is unrecognized (must be of type ${kind})`)
  const apiVersions = versions.map((candidate) => apiVersionOf({ group, version: candidate }))
  if ((body['kind'] ?? kind) !== kind || !apiVersions.includes(String(body['apiVersion'] ?? apiVersions[0])))
    throw badRequest(
      `the API version or kind in the data (${String(body['apiVersion'])}, Kind=${String(body['kind'])}) does not match the expected API version and kind (${apiVersionOf({ group, version })}, Kind=${kind})`,
    )
  const meta = readMeta(body)
  refuseOtherPlace(request, meta)
  const typed = { ...body, apiVersion: apiVersionOf({ group, version }), kind }
  const { object, unknownFields } = served.schemas.get(version)?.prune(typed, current) ?? { object: typed, unknownFields: [] }
  return {
    object: { ...object, apiVersion: apiVersionOf({ group, version: stored }) },
    meta,
    warnings: warningsFor(request, kind, version, unknownFields),
  }
}

function refuseOtherPlace(request: ApiRequest, meta: Partial<ApiMeta>): void {
  if (meta.namespace && meta.namespace !== (request.namespace ?? ''))
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  if (request.name !== undefined && meta.name && meta.name !== request.name)
    throw badRequest(`the name of the object (${meta.name}) does not match the name on the URL (${request.name})`)
}

function warningsFor(request: ApiRequest, kind: string, version: string, unknownFields: readonly string[]): readonly string[] {
  const mode = request.options?.fieldValidation ?? 'Ignore'
  if (unknownFields.length === 0 || mode === 'Ignore') return []
  const says = unknownFields.map((field) => `unknown field ${JSON.stringify(field)}`)
  if (mode === 'Strict' && request.verb === 'patch')
    throw invalidObject({ group: '', kind: '' }, '', [
      invalid('patch', JSON.stringify(request.body), `strict decoding error: ${says.join(', ')}`),
    ])
  if (mode === 'Strict')
    throw badRequest(
      `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: strict decoding error: ${says.join(', ')}`,
    )
  return says
}
