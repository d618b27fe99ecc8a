import type { ApiMeta, ApiObject } from '../client.ts'
import { storeKey } from '../store/bucket.ts'
import { freezeDeep, importJson, isObject, jsonEqual, objectOrEmpty } from '../store/json.ts'
import { decodeObject, type DecodedObject } from './decode-object.ts'
import { createObject } from './create-object.ts'
import { admitted, confirmed, type Engine, needsAdmission, putObject, removeObject } from './engine.ts'
import { badRequest, conflict, invalidObject, modifiedMeanwhile, notFound } from '../errors.ts'
import { invalid } from '../field-errors.ts'
import { metaForUpdate, validateMeta, validateMetaUpdate } from './metadata.ts'
import { applyPatch } from './patch.ts'
import type { Served } from '../resources/registry.ts'
import type { ApiRequest, ApiResult } from './request.ts'

/** How often a change that names no resource version is made anew when the object changed meanwhile. */
const ATTEMPTS = 5

/**
 * Replaces an object (verb `update`) or patches it. A change that changes nothing writes nothing. A few kinds are created by a
 * replacement of what is not there.
 *
 * @throws {ApiStatusError} 400, 404, 409 (another version), 415, 422, or what admission answers
 */
export async function changeObject(engine: Engine, request: ApiRequest, served: Served): Promise<ApiResult> {
  if (request.name === undefined) throw badRequest('name must be provided')
  const body = importJson(request.body)
  if (createsMissing(engine, request, served)) return createObject(engine, { ...request, body: withoutVersion(body) }, served)
  for (let attempt = 1; ; attempt++) {
    const current = storedObject(engine, request, served)
    const decoded = decodeObject(request, served, bodyOf(request, served, current, body), current)
    refuseOtherVersion(request, served, decoded.meta, current)
    const change = await prepared(engine, request, served, decoded, current)
    request.guard?.(change.next, current)
    if (storedObject(engine, request, served) === current) return stored(engine, request, served, { ...change, current })
    if (attempt === ATTEMPTS) throw modifiedMeanwhile(served.id, request.name)
  }
}

/** @returns whether the request is a PUT of an object that is still to be created, of a kind that can be created so */
function createsMissing(engine: Engine, request: ApiRequest, served: Served): boolean {
  if (request.verb !== 'update' || request.subresource !== undefined) return false
  return served.definition.strategy.allowCreateOnUpdate && findObject(engine, request, served) === undefined
}

/** The version from which a PUT was made says nothing where there is none. */
function withoutVersion(body: unknown): unknown {
  if (!isObject(body)) return body
  const { resourceVersion: _none, ...metadata } = objectOrEmpty(body['metadata'])
  return { ...body, metadata }
}

/** @throws {ApiStatusError} 404 */
export function storedObject(engine: Engine, request: Pick<ApiRequest, 'namespace' | 'name'>, served: Served): ApiObject {
  const object = findObject(engine, request, served)
  if (object === undefined) throw notFound(served.id, request.name ?? '')
  return object
}

function findObject(engine: Engine, { namespace, name = '' }: Pick<ApiRequest, 'namespace' | 'name'>, served: Served) {
  return engine.store.bucket(served.id).get(storeKey(served.definition.namespaced ? namespace : undefined, name))
}

/** @returns whether nothing keeps a deleted object any more */
export function isFinished(served: Served, object: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata
  const kept = served.definition.strategy.isKept?.(object) === true
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && finalizers.length === 0 && !kept
}

interface PreparedChange {
  readonly next: ApiObject
  readonly warnings: readonly string[]
}

function bodyOf(request: ApiRequest, served: Served, current: ApiObject, body: unknown): unknown {
  if (request.verb === 'update') return body
  if (request.patchType === undefined) throw badRequest('a patch needs a patch type')
  return applyPatch(served.definition, current, request.patchType, body)
}

function refuseOtherVersion(request: ApiRequest, served: Served, meta: Partial<ApiMeta>, current: ApiObject): void {
  const { definition, id } = served
  const name = current.metadata.name
  if (meta.resourceVersion && meta.resourceVersion !== current.metadata.resourceVersion) throw modifiedMeanwhile(id, name)
  if (request.verb !== 'update') return
  if (meta.uid && meta.uid !== current.metadata.uid)
    throw conflict(id, name, `Precondition failed: UID in precondition: ${meta.uid}, UID in object meta: ${current.metadata.uid}`)
  if (!meta.resourceVersion && !definition.strategy.allowUnconditionalUpdate)
    throw invalidObject(definition, name, [invalid('metadata.resourceVersion', 0, 'must be specified for an update')])
}

async function prepared(
  engine: Engine,
  request: ApiRequest,
  served: Served,
  decoded: DecodedObject,
  current: ApiObject,
): Promise<PreparedChange> {
  const draft = nextObject(request, served, decoded, current)
  if (!needsAdmission(engine, request, served, 'UPDATE')) return validated(served, decoded, draft, current)
  const name = current.metadata.name
  const answer = await admitted(engine, request, served, { operation: 'UPDATE', name, oldObject: current, object: draft })
  // What admission made of it is held to the same rules: no status by way of the object, nothing but the status by way of it.
  const { object = draft } = answer
  const next = nextObject(request, served, { ...decoded, object: { ...object }, meta: object.metadata }, current)
  const change = validated(served, { ...decoded, warnings: [...decoded.warnings, ...answer.warnings] }, next, current)
  const warnings = await confirmed(engine, request, served, { operation: 'UPDATE', name, oldObject: current, object: change.next })
  return { ...change, warnings: [...change.warnings, ...warnings] }
}

function nextObject(request: ApiRequest, served: Served, { object, meta }: DecodedObject, current: ApiObject): ApiObject {
  const { definition } = served
  const metadata = metaForUpdate(meta, current.metadata)
  const sent = { ...object, metadata } as unknown as ApiObject
  const defaulted = definition.strategy.defaults((served.schemas.get(definition.version)?.applyDefaults(sent) ?? sent) as ApiObject)
  if (request.subresource === 'finalize') return shared({ ...current, spec: sent['spec'] }, current)
  if (request.subresource === 'status') return shared(statusChange(served, defaulted, current), current)
  const withStatus = definition.subresources.includes('status') ? withField(defaulted, 'status', current['status']) : defaulted
  const next = shared(definition.strategy.prepareUpdate(withStatus, current), current)
  return withGeneration(request, served, next, current)
}

/** Through the status subresource, built-in kinds take metadata too; custom resources take the status alone. */
function statusChange(served: Served, sent: ApiObject, current: ApiObject): ApiObject {
  const custom = served.definition.customResourceDefinition !== undefined
  const { ownerReferences, ...metadata } = custom ? current.metadata : sent.metadata
  const owners = current.metadata.ownerReferences ?? (custom ? ownerReferences : undefined)
  return withField({ ...current, metadata: { ...metadata, ...(owners && { ownerReferences: owners }) } }, 'status', sent['status'])
}

function withGeneration(request: ApiRequest, served: Served, next: ApiObject, current: ApiObject): ApiObject {
  const { strategy, subresources } = served.definition
  if (!strategy.hasGeneration || request.subresource !== undefined) return next
  const ignored = subresources.includes('status') ? ['metadata', 'status'] : ['metadata']
  const fields = [...new Set([...Object.keys(next), ...Object.keys(current)])].filter((field) => !ignored.includes(field))
  const changed = fields.some((field) => !jsonEqual(next[field], current[field]))
  const generation = (current.metadata.generation ?? 0) + (changed ? 1 : 0)
  return next.metadata.generation === generation ? next : { ...next, metadata: { ...next.metadata, generation } }
}

function validated(served: Served, decoded: DecodedObject, next: ApiObject, current: ApiObject): PreparedChange {
  const { definition } = served
  const causes = [
    ...validateMeta(definition, next),
    ...validateMetaUpdate(decoded.meta, next.metadata, current.metadata),
    ...(served.schemas.get(definition.version)?.validate(next, current) ?? []),
    ...definition.strategy.validate(next),
    ...definition.strategy.validateUpdate(next, current),
  ]
  if (causes.length > 0) throw invalidObject(definition, next.metadata.name, causes)
  return { next, warnings: [...decoded.warnings, ...(definition.strategy.warnings?.(next, current) ?? [])] }
}

function stored(engine: Engine, request: ApiRequest, served: Served, change: PreparedChange & { readonly current: ApiObject }): ApiResult {
  const { next, current, warnings } = change
  if (request.options?.dryRun) return { kind: 'object', code: 200, object: freezeDeep(next), warnings }
  if (isFinished(served, next)) {
    removeObject(engine, request, served, current)
    return { kind: 'object', code: 200, object: freezeDeep(next), warnings }
  }
  const object = jsonEqual(next, current) ? current : putObject(engine, request, served, next)
  return { kind: 'object', code: 200, object, warnings }
}

/** Fields that did not change are those of the stored object, so that versions of an object share what they have in common. */
function shared(next: ApiObject, current: ApiObject): ApiObject {
  const result: Record<string, unknown> = { ...next }
  for (const [field, value] of Object.entries(next)) if (jsonEqual(value, current[field])) result[field] = current[field]
  return result as unknown as ApiObject
}

function withField(object: ApiObject, field: string, value: unknown): ApiObject {
  const { [field]: _old, ...rest } = object
  return (value === undefined ? rest : { ...rest, [field]: value }) as ApiObject
}
