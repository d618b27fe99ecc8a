import type { ApiMeta, ApiObject } from '../model/client.ts'
import { ApiStatusError, type ApiStatus, type StatusCause } from '../model/status-error.ts'
import { freezeDeep, importJson, isObject, jsonEqual, objectOrEmpty } from '../model/json.ts'
import { storedObject } from './change-object.ts'
import { admitted, type Engine, needsAdmission, putObject, removeObject } from '../engine/engine.ts'
import { timestamp } from '../model/timestamp.ts'
import { badRequest, conflict, forbidden, invalidObject, methodNotAllowed } from '../model/errors.ts'
import { invalid, notSupported } from '../model/field-errors.ts'
import { listObjects } from './list.ts'
import type { Served } from '../resources/registry.ts'
import type { ApiRequest, ApiResult, RequestOptions } from '../model/request.ts'

/**
 * Deletes one object: removes it, or marks it when it has a grace period or finalizers.
 *
 * @throws {ApiStatusError} 404, 409 when a precondition fails, 422 for options that do not go together
 */
export async function deleteObject(engine: Engine, request: ApiRequest, served: Served): Promise<ApiResult> {
  const options = deleteOptionsOf(request)
  if (isImmortal(served, request.name)) throw forbidden(served.id, request.name!, 'this namespace may not be deleted')
  const current = storedObject(engine, request, served)
  refusePreconditions(served, current, options)
  const { object, removed, warnings } = await deleted(engine, request, served, { object: current, admittedName: current.metadata.name })
  if (!removed || served.definition.strategy.gracePeriodSeconds !== undefined) return { kind: 'object', code: 200, object, warnings }
  return { kind: 'status', code: 200, status: successStatus(served, current.metadata), warnings }
}

/** Deletes all selected objects, one by one; an object that disappears meanwhile is no error. */
export async function deleteCollection(engine: Engine, request: ApiRequest, served: Served): Promise<ApiResult> {
  if (isNamespaces(served)) throw methodNotAllowed()
  deleteOptionsOf(request)
  const list = listObjects(engine.store, served.definition, request.namespace, request.options ?? {})
  for (const object of list.items) {
    const one: ApiRequest = { ...request, name: object.metadata.name, namespace: object.metadata.namespace }
    try {
      await deleted(engine, one, served, { object: storedObject(engine, one, served), admittedName: '' })
    } catch (error) {
      if (!(error instanceof ApiStatusError && error.code === 404)) throw error
    }
  }
  return { kind: 'list', code: 200, list, warnings: [] }
}

/** @returns Status of a successful request for one object */
export function successStatus(served: Served, { name, uid }: Pick<ApiMeta, 'name' | 'uid'>): ApiStatus {
  const { group, resource } = served.id
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...(group !== '' && { group }), kind: resource, uid },
  }
}

const IMMORTAL_NAMESPACES = ['default', 'kube-system', 'kube-public']

function isImmortal(served: Served, name: string | undefined): boolean {
  return isNamespaces(served) && name !== undefined && IMMORTAL_NAMESPACES.includes(name)
}

function isNamespaces({ id }: Served): boolean {
  return id.group === '' && id.resource === 'namespaces'
}

const POLICIES = ['Foreground', 'Background', 'Orphan']
const FOREGROUND_FINALIZER = 'foregroundDeletion'
const ORPHAN_FINALIZER = 'orphan'

interface Deleted {
  readonly object: ApiObject
  readonly removed: boolean
  readonly warnings: readonly string[]
}

function deleteOptionsOf(request: ApiRequest): RequestOptions {
  const body = importJson(request.body)
  if (body !== undefined && body !== null && !isObject(body)) throw badRequest('DeleteOptions must be an object')
  const options: RequestOptions = {
    ...request.options,
    ...objectOrEmpty(body),
    dryRun: request.options?.dryRun === true || hasDryRun(body),
  }
  const causes: StatusCause[] = []
  const { propagationPolicy, orphanDependents } = options
  if (propagationPolicy != null && orphanDependents != null)
    causes.push(invalid('propagationPolicy', propagationPolicy, 'orphanDependents and deletionPropagation cannot be both set'))
  if (propagationPolicy != null && !POLICIES.includes(propagationPolicy))
    causes.push(notSupported('propagationPolicy', propagationPolicy, [...POLICIES, 'nil']))
  const dryRun = objectOrEmpty(body)['dryRun']
  if (Array.isArray(dryRun) && dryRun.some((value) => value !== 'All')) causes.push(notSupported('dryRun', dryRun, ['All']))
  if (causes.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', causes)
  refuseGracePeriod(options.gracePeriodSeconds)
  return options
}

/** Longest representable grace period, in seconds. */
const LONGEST_GRACE_SECONDS = 200_000_000_000

function refuseGracePeriod(seconds: unknown): void {
  if (seconds == null || (Number.isInteger(seconds) && Math.abs(Number(seconds)) <= LONGEST_GRACE_SECONDS)) return
  throw badRequest(`json: cannot unmarshal ${JSON.stringify(seconds)} into Go struct field DeleteOptions.gracePeriodSeconds of type int64`)
}

function hasDryRun(body: unknown): boolean {
  const dryRun = objectOrEmpty(body)['dryRun']
  return Array.isArray(dryRun) && dryRun.length > 0
}

function refusePreconditions(served: Served, { metadata }: ApiObject, { preconditions }: RequestOptions): void {
  const { name, uid, resourceVersion } = metadata
  // This response names the kind, while others name the resource.
  const id = { group: '', resource: served.definition.kind }
  const refuse = (what: string, asked: string, is: string, why: string): Error =>
    conflict(id, name, `the ${what} in the precondition (${asked}) does not match the ${what} in record (${is}). ${why}`)
  if (preconditions?.uid != null && preconditions.uid !== uid)
    throw refuse('UID', preconditions.uid, uid, 'The object might have been deleted and then recreated')
  if (preconditions?.resourceVersion != null && preconditions.resourceVersion !== resourceVersion)
    throw refuse('ResourceVersion', preconditions.resourceVersion, resourceVersion, 'The object might have been modified')
}

/** @param admittedName as admission sees it: empty when the object is one of a collection */
async function deleted(
  engine: Engine,
  request: ApiRequest,
  served: Served,
  { object, admittedName }: { readonly object: ApiObject; readonly admittedName: string },
): Promise<Deleted> {
  const options = deleteOptionsOf(request)
  const asked = { ...request, options }
  if (!needsAdmission(engine, asked, served, 'DELETE')) return { ...markOrRemove(engine, asked, served, object), warnings: [] }
  const { warnings } = await admitted(engine, asked, served, {
    operation: 'DELETE',
    name: admittedName,
    oldObject: object,
    object: undefined,
  })
  const current = storedObject(engine, asked, served)
  refusePreconditions(served, current, options)
  return { ...markOrRemove(engine, asked, served, current), warnings }
}

function markOrRemove(engine: Engine, request: ApiRequest, served: Served, object: ApiObject): Omit<Deleted, 'warnings'> {
  const options = request.options ?? {}
  const marked = markedObject(engine, served, object, options)
  const removed = !isHeld(served, marked)
  if (options.dryRun) return { object: freezeDeep(marked), removed }
  const unwritten = jsonEqual(marked, object) || (removed && marked.metadata.deletionTimestamp === undefined)
  const written = unwritten ? object : putObject(engine, request, served, marked)
  return { object: removed ? removeObject(engine, request, served, written) : written, removed }
}

/** @returns object with its deletion fields, if it stays for a while */
function markedObject(engine: Engine, served: Served, object: ApiObject, options: RequestOptions): ApiObject {
  const { strategy } = served.definition
  const nowMs = engine.clock.nowMs()
  const next = withDependentsPolicy(object, options)
  const { deletionTimestamp } = object.metadata
  if (deletionTimestamp !== undefined) return strategy.gracePeriodSeconds === undefined ? next : withShorterGrace(next, options, nowMs)
  const grace = strategy.gracePeriodSeconds?.(object, options.gracePeriodSeconds ?? undefined)
  if (grace === undefined && !isHeld(served, next)) return next
  const seconds = Math.min(grace ?? 0, LONGEST_GRACE_SECONDS)
  const marked = { ...next, metadata: deletionMeta(next.metadata, timestamp(nowMs + seconds * 1000), seconds) }
  return strategy.prepareDeletion?.(marked) ?? marked
}

function isHeld(served: Served, object: ApiObject): boolean {
  const { metadata } = object
  if ((metadata.deletionGracePeriodSeconds ?? 0) > 0) return true
  return (metadata.finalizers ?? []).length > 0 || served.definition.strategy.isKept?.(object) === true
}

/** A second delete can only shorten the grace period. */
function withShorterGrace(object: ApiObject, options: RequestOptions, nowMs: number): ApiObject {
  const { deletionTimestamp, deletionGracePeriodSeconds: running = 0 } = object.metadata
  if (running === 0 || options.gracePeriodSeconds == null) return object
  const asked = options.gracePeriodSeconds < 0 ? 1 : options.gracePeriodSeconds
  if (asked >= running) return object
  const movedMs = Date.parse(deletionTimestamp!) - (running - asked) * 1000
  const isPast = asked > 0 && movedMs <= nowMs
  const metadata = {
    ...object.metadata,
    deletionTimestamp: timestamp(isPast ? nowMs + 1000 : movedMs),
    deletionGracePeriodSeconds: isPast ? 1 : asked,
  }
  return { ...object, metadata }
}

function deletionMeta(metadata: ApiMeta, deletionTimestamp: string, graceSeconds: number): ApiMeta {
  const generation = metadata.generation === undefined ? {} : { generation: metadata.generation + 1 }
  return { ...metadata, ...generation, deletionTimestamp, deletionGracePeriodSeconds: graceSeconds }
}

/** A finalizer carries the propagation policy to the garbage collector. */
function withDependentsPolicy(object: ApiObject, options: RequestOptions): ApiObject {
  const policy = options.orphanDependents == null ? options.propagationPolicy : options.orphanDependents ? 'Orphan' : 'Background'
  if (policy == null) return object
  const old = object.metadata.finalizers ?? []
  const others = old.filter((finalizer) => finalizer !== FOREGROUND_FINALIZER && finalizer !== ORPHAN_FINALIZER)
  const finalizers =
    policy === 'Foreground' ? [...others, FOREGROUND_FINALIZER] : policy === 'Orphan' ? [...others, ORPHAN_FINALIZER] : others
  if (jsonEqual(finalizers, old)) return object
  const { finalizers: _old, ...metadata } = object.metadata
  return { ...object, metadata: finalizers.length > 0 ? { ...metadata, finalizers } : metadata }
}
