import type { Engine } from './engine/engine.ts'
import { badRequest, methodNotAllowed, noSuchResource } from './model/errors.ts'
import type { ApiRequest, ApiResult } from './model/request.ts'
import { bindPod } from './pods/bind-pod.ts'
import { evictPod } from './pods/evict-pod.ts'
import { changeObject, storedObject } from './requests/change-object.ts'
import { createObject } from './requests/create-object.ts'
import { deleteCollection, deleteObject } from './requests/delete-object.ts'
import { listObjects } from './requests/list.ts'
import { scaleObject } from './requests/scale-object.ts'
import type { Served } from './resources/registry.ts'

/**
 * Carries out a request that no fault has stopped.
 *
 * @throws {ApiStatusError} when a server would respond with a Status
 */
export async function answerRequest(engine: Engine, request: ApiRequest): Promise<ApiResult> {
  const served = engine.registry.get(request.resource, request.version)
  const { subresource } = request
  if (subresource !== undefined && !served.definition.subresources.includes(subresource)) throw noSuchResource()
  if (subresource === 'scale') return scaleObject(engine, request, served)
  if (subresource === 'binding' || subresource === 'eviction') return podAction(engine, request, served)
  switch (request.verb) {
    case 'get':
      return { kind: 'object', code: 200, object: storedObject(engine, request, served), warnings: [] }
    case 'list':
      return {
        kind: 'list',
        code: 200,
        list: listObjects(engine.store, served.definition, request.namespace, request.options ?? {}),
        warnings: [],
      }
    case 'create':
      if (subresource !== undefined) throw methodNotAllowed()
      return createObject(engine, request, served)
    case 'update':
    case 'patch':
      return changeObject(engine, request, served)
    case 'delete':
      if (request.name === undefined) throw badRequest('name must be provided')
      return deleteObject(engine, request, served)
    case 'deletecollection':
      return deleteCollection(engine, request, served)
    default:
      request.verb satisfies never
      throw methodNotAllowed()
  }
}

async function podAction(engine: Engine, request: ApiRequest, served: Served): Promise<ApiResult> {
  if (request.verb !== 'create') throw methodNotAllowed()
  return request.subresource === 'binding' ? bindPod(engine, request, served) : evictPod(engine, request, served)
}
