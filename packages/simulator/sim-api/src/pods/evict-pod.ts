import { type ApiObject, resources } from '../model/client.ts'
import type { ApiStatusError } from '../model/status-error.ts'
import { isObject, type JsonObject, listOrEmpty, objectOrEmpty, importJson } from '../model/json.ts'
import { storedObject } from '../requests/change-object.ts'
import { deleteObject } from '../requests/delete-object.ts'
import { decideEviction, type EvictionDecision } from './decide-eviction.ts'
import { type Engine, putObject } from '../engine/engine.ts'
import { timestamp } from '../model/timestamp.ts'
import { badRequest, conflict } from '../model/errors.ts'
import { selectsLabels } from '../model/label-selector.ts'
import type { Served } from '../resources/registry.ts'
import type { ApiRequest, ApiResult } from '../model/request.ts'

/**
 * Evicts a pod: deletes it, if its disruption budget allows that.
 *
 * @throws {ApiStatusError} 400 when the eviction names another pod; 429 when the budget is used up or not counted yet. 403 when the
 * budget's status is invalid; 500 for a pod with more than one budget; else as a delete
 */
export async function evictPod(engine: Engine, request: ApiRequest, served: Served): Promise<ApiResult> {
  const eviction = objectOrEmpty(importJson(request.body))
  const named = objectOrEmpty(eviction['metadata'])['name']
  if (named !== undefined && named !== request.name) throw badRequest('name in URL does not match name in Eviction object')
  const asked = objectOrEmpty(eviction['deleteOptions'])
  const dryRun = request.options?.dryRun === true || listOrEmpty(asked['dryRun']).length > 0
  const pod = storedObject(engine, request, served)
  const budgets = budgetsOf(engine, pod)
  const decision = decideEviction(pod, budgets)
  const from = pinnedVersion(asked, pod, decision)
  const write = { ...request, options: { ...request.options, dryRun } }
  refuseOtherPod(pod, objectOrEmpty(from['preconditions']))
  if (decision.kind === 'countDown' && !dryRun) countDown(engine, write, decision.budget, pod)
  const latest = dryRun ? pod : markDisrupted(engine, write, served, pod)
  const body = withVersion(from, latest)
  await deleteObject(engine, { ...write, verb: 'delete', body }, served)
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } as const
  return { kind: 'status', code: 201, status, warnings: [] }
}

/** A budget without a selector selects nothing; one with an empty selector selects every pod of its namespace. */
function budgetsOf(engine: Engine, pod: ApiObject): readonly ApiObject[] {
  const bucket = engine.store.bucket(resources.podDisruptionBudgets)
  if (bucket.size === 0) return []
  return [...bucket.current().objects.values()].filter((budget) => {
    const { selector } = objectOrEmpty(budget['spec'])
    const isNear = budget.metadata.namespace === pod.metadata.namespace
    return isNear && isObject(selector) && selectsLabels(selector, pod.metadata.labels ?? {})
  })
}

/** An eviction that depends on the pod's current state deletes exactly that version of the pod. */
function pinnedVersion(asked: JsonObject, pod: ApiObject, decision: EvictionDecision): JsonObject {
  const preconditions = objectOrEmpty(asked['preconditions'])
  if (decision.kind !== 'asItIs' || preconditions['resourceVersion'] !== undefined) return asked
  return { ...asked, preconditions: { ...preconditions, resourceVersion: pod.metadata.resourceVersion } }
}

/** As the API server names it here, by its kind. */
const POD = { group: '', resource: 'Pod' }

function refuseOtherPod({ metadata }: ApiObject, { uid, resourceVersion }: JsonObject): void {
  const refuse = (what: string, wanted: unknown, is: string, why: string): ApiStatusError =>
    conflict(POD, metadata.name, `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${is}). ${why}`)
  if (uid && uid !== metadata.uid) throw refuse('UID', uid, metadata.uid, 'The object might have been deleted and then recreated')
  if (resourceVersion && resourceVersion !== metadata.resourceVersion)
    throw refuse('ResourceVersion', resourceVersion, metadata.resourceVersion, 'The object might have been modified')
}

function countDown(engine: Engine, request: ApiRequest, budget: ApiObject, pod: ApiObject): void {
  const served = engine.registry.get(resources.podDisruptionBudgets)
  const status = objectOrEmpty(budget['status'])
  const nowText = timestamp(engine.clock.nowMs())
  const disruptionsAllowed = Number(status['disruptionsAllowed']) - 1
  const disruptedPods = { ...objectOrEmpty(status['disruptedPods']), [pod.metadata.name]: nowText }
  const next = { ...status, disruptionsAllowed, disruptedPods }
  const write = { ...request, verb: 'update' as const }
  putObject(engine, write, served, { ...budget, status: disruptionsAllowed === 0 ? withInsufficientPods(next, nowText) : next })
}

function withInsufficientPods(status: JsonObject, nowText: string): JsonObject {
  const conditions = listOrEmpty(status['conditions']).map(objectOrEmpty)
  const before = conditions.find(({ type }) => type === 'DisruptionAllowed')
  const condition = {
    ...before,
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'InsufficientPods',
    message: '',
    observedGeneration: status['observedGeneration'],
    lastTransitionTime: before?.['status'] === 'False' ? before['lastTransitionTime'] : nowText,
  }
  return { ...status, conditions: [...conditions.filter((one) => one !== before), condition] }
}

/** Records the reason in the pod's status. */
function markDisrupted(engine: Engine, request: ApiRequest, served: Served, pod: ApiObject): ApiObject {
  const status = objectOrEmpty(pod['status'])
  const conditions = listOrEmpty(status['conditions']).map(objectOrEmpty)
  const before = conditions.find(({ type }) => type === 'DisruptionTarget')
  if (before?.['status'] === 'True' && before['reason'] === 'EvictionByEvictionAPI') return pod
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
    lastTransitionTime: timestamp(engine.clock.nowMs()),
  }
  return putObject(engine, request, served, {
    ...pod,
    status: { ...status, conditions: [...conditions.filter((one) => one !== before), condition] },
  })
}

/** The status write of the eviction itself is not a conflicting change. */
function withVersion(options: JsonObject, pod: ApiObject): JsonObject {
  const preconditions = objectOrEmpty(options['preconditions'])
  if (preconditions['resourceVersion'] === undefined) return options
  return { ...options, preconditions: { ...preconditions, resourceVersion: pod.metadata.resourceVersion } }
}
