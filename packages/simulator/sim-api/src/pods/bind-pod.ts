import type { ApiObject } from '../model/client.ts'
import { importJson, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import { storedObject } from '../requests/change-object.ts'
import { type Engine, putObject } from '../engine/engine.ts'
import { timestamp } from '../model/timestamp.ts'
import { badRequest, conflict } from '../model/errors.ts'
import type { Served } from '../resources/registry.ts'
import type { ApiRequest, ApiResult } from '../model/request.ts'

/**
 * Binds a pod to a node: sets `spec.nodeName` and the condition PodScheduled.
 *
 * @throws {ApiStatusError} 400 for a binding without a node, 404, 409 when the pod is bound or being deleted
 */
export function bindPod(engine: Engine, request: ApiRequest, served: Served): ApiResult {
  const binding = objectOrEmpty(importJson(request.body))
  const node = objectOrEmpty(binding['target'])['name']
  if (typeof node !== 'string' || node === '') throw badRequest('target.name: Required value')
  const name = request.name ?? String(objectOrEmpty(binding['metadata'])['name'] ?? '')
  const pod = storedObject(engine, { name, namespace: request.namespace }, served)
  const spec = objectOrEmpty(pod['spec'])
  if (pod.metadata.deletionTimestamp !== undefined)
    throw conflict(served.id, name, `pod ${name} is being deleted, cannot be assigned to a host`)
  if (spec['nodeName']) throw conflict(served.id, name, `pod ${name} is already assigned to node ${JSON.stringify(spec['nodeName'])}`)
  const bound = withScheduled({ ...pod, spec: { ...spec, nodeName: node } }, timestamp(engine.clock.nowMs()))
  if (!request.options?.dryRun) putObject(engine, request, served, bound)
  return {
    kind: 'status',
    code: 201,
    status: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 },
    warnings: [],
  }
}

function withScheduled(pod: ApiObject, lastTransitionTime: string): ApiObject {
  const status = objectOrEmpty(pod['status'])
  const others = listOrEmpty(status['conditions']).filter((condition) => objectOrEmpty(condition)['type'] !== 'PodScheduled')
  return { ...pod, status: { ...status, conditions: [...others, { type: 'PodScheduled', status: 'True', lastTransitionTime }] } }
}
