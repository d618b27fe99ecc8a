import type { ApiObject } from '../model/client.ts'
import { badRequest, internalError, noSuchResource, unsupportedPatch } from '../model/errors.ts'
import type { Served } from '../resources/registry.ts'
import type { ResourceDefinition, ScalePaths } from '../model/resource-definition.ts'
import { importJson, isObject, type JsonObject, objectOrEmpty } from '../model/json.ts'
import { changeObject, storedObject } from './change-object.ts'
import type { Engine } from '../engine/engine.ts'
import { applyPatch } from '../patching/patch.ts'
import type { ApiRequest, ApiResult } from '../model/request.ts'

/**
 * Reads or changes the replicas of a custom resource as a Scale of autoscaling/v1. A change updates the object itself: its generation
 * increments, and admission sees the object.
 *
 * @throws {ApiStatusError} 400 without a number of replicas, 404, 409 (another version), 415, 422, 500 when the object has no number of
 *   replicas
 */
export async function scaleObject(engine: Engine, request: ApiRequest, served: Served): Promise<ApiResult> {
  const { scale: paths } = served.definition
  if (paths === undefined) throw noSuchResource()
  const current = storedObject(engine, request, served)
  if (request.verb === 'get') return { kind: 'object', code: 200, object: statedScale(current, paths), warnings: [] }
  const { metadata, spec } = sentScale(served.definition, request, scaleOf(current, paths))
  const { replicas } = objectOrEmpty(spec)
  if (!Number.isInteger(replicas)) throw badRequest(`the spec replicas field ${JSON.stringify(paths.specReplicas)} cannot be empty`)
  const { name, resourceVersion } = objectOrEmpty(metadata)
  const at = { ...(name ? { name } : {}), ...(resourceVersion ? { resourceVersion } : {}) }
  const body = { ...nested(namesOf(paths.specReplicas), replicas), metadata: at }
  const change: ApiRequest = { ...request, verb: 'patch', subresource: undefined, ownedAs: 'scale', patchType: 'merge-patch', body }
  const result = await changeObject(engine, change, served)
  return result.kind === 'object' ? { ...result, object: scaleOf(result.object, paths) } : result
}

/** A patch without resource version applies to any version. */
function sentScale(definition: ResourceDefinition, request: ApiRequest, current: ApiObject): JsonObject {
  const body = importJson(request.body)
  if (request.verb === 'update') {
    if (!isObject(body)) throw badRequest('the object provided is unrecognized (must be of type Scale)')
    return body
  }
  if (request.patchType === 'apply-patch') throw unsupportedPatch(['json-patch', 'merge-patch'])
  const { resourceVersion: _any, ...metadata } = current.metadata
  return applyPatch(definition, { ...current, metadata } as ApiObject, request.patchType ?? 'merge-patch', body)
}

function statedScale(object: ApiObject, paths: ScalePaths): ApiObject {
  if (valueAt(object, paths.specReplicas) !== undefined) return scaleOf(object, paths)
  throw internalError(`the spec replicas field ${JSON.stringify(paths.specReplicas)} does not exist`)
}

/** Omits zero replicas in the spec, like the typed API. */
function scaleOf(object: ApiObject, paths: ScalePaths): ApiObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const wanted = valueAt(object, paths.specReplicas)
  const selector = paths.labelSelector === undefined ? undefined : valueAt(object, paths.labelSelector)
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name, ...(namespace !== undefined && { namespace }), uid, resourceVersion, creationTimestamp },
    spec: wanted ? { replicas: wanted } : {},
    status: { replicas: valueAt(object, paths.statusReplicas) ?? 0, ...(selector ? { selector } : {}) },
  }
}

function valueAt(object: ApiObject, path: string): unknown {
  return namesOf(path).reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), object)
}

function nested(names: readonly string[], value: unknown): JsonObject {
  return names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as JsonObject
}

function namesOf(path: string): readonly string[] {
  return path.replace(/^\./, '').split('.')
}
