import type { ApiMeta, ApiObject } from '../model/client.ts'
import { storeKey } from '../store/bucket.ts'
import { freezeDeep, importJson, isObject, jsonEqual, objectOrEmpty } from '../model/json.ts'
import { decodeObject, type DecodedObject } from './decode-object.ts'
import { createObject } from './create-object.ts'
import { admitted, confirmed, type Engine, needsAdmission, putObject, removeObject } from '../engine/engine.ts'
import { badRequest, conflict, invalidObject, modifiedMeanwhile, notFound } from '../model/errors.ts'
import { invalid } from '../model/field-errors.ts'
import { metaForUpdate, validateMeta, validateMetaUpdate } from '../model/metadata.ts'
import { type Owners, ownersOf, setOwners, withManagedFields } from '../ownership/owners.ts'
import { appliedTo } from './apply-object.ts'
import { ownedWriteOf, ownersAfter, sameManagers } from './owned-write.ts'
import { applyPatch } from '../patching/patch.ts'
import type { Served } from '../resources/registry.ts'
import type { ApiRequest, ApiResult } from '../model/request.ts'

/** Number of attempts of a change without resource version on write conflicts. */
const ATTEMPTS = 5

/**
 * Replaces an object (verb `update`) or patches it. A change without effect writes nothing. A PUT creates missing objects of a few kinds;
 * an apply patch creates any.
 *
 * @throws {ApiStatusError} 400, 404, 409 (another version), 415, 422, or the response of admission
 */
export async function changeObject(engine: Engine, request: ApiRequest, served: Served): Promise<ApiResult> {
  if (request.name === undefined) throw badRequest('name must be provided')
  const body = importJson(request.body)
  if (createsMissing(engine, request, served)) return createObject(engine, { ...request, body: withoutVersion(body) }, served)
  for (let attempt = 1; ; attempt++) {
    if (request.patchType === 'apply-patch' && findObject(engine, request, served) === undefined)
      return createApplied(engine, request, served)
    const current = storedObject(engine, request, served)
    const edit = editOf(engine, request, served, { current, body })
    const decoded = decodeObject(request, served, edit.body, current)
    refuseOtherVersion(request, served, decoded.meta, current)
    const change = await prepared(engine, request, served, { ...decoded, applied: edit.owners }, current)
    request.guard?.(change.next, current)
    if (storedObject(engine, request, served) === current) return stored(engine, request, served, { ...change, current })
    if (attempt === ATTEMPTS) throw modifiedMeanwhile(served.id, request.name)
  }
}

/** @returns whether the request is a PUT that creates an object, of a kind that supports that */
function createsMissing(engine: Engine, request: ApiRequest, served: Served): boolean {
  if (request.verb !== 'update' || request.subresource !== undefined) return false
  return served.definition.strategy.allowCreateOnUpdate && findObject(engine, request, served) === undefined
}

/** @throws {ApiStatusError} 404 for a subresource of a missing object; else as {@link createObject} */
async function createApplied(engine: Engine, request: ApiRequest, served: Served): Promise<ApiResult> {
  if (request.subresource !== undefined) throw notFound(served.id, request.name ?? '')
  const write = ownedWriteOf(engine, request, served)
  const { body, owners } = appliedTo(write, { ...request, body: importJson(request.body) }, served, undefined)
  return createObject(engine, { ...request, body: withoutVersion(body) }, served, owners)
}

/** The resource version of a PUT that creates an object is ignored. */
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

/** @returns whether nothing keeps a deleted object any longer */
export function isFinished(served: Served, object: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata
  const kept = served.definition.strategy.isKept?.(object) === true
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && finalizers.length === 0 && !kept
}

interface PreparedChange {
  readonly next: ApiObject
  readonly owners: Owners
  /** Whether the owners may differ when the object does not. */
  readonly isOwned: boolean
  readonly warnings: readonly string[]
}

interface Edit {
  readonly body: unknown
  /** Set by an apply patch. */
  readonly owners?: Owners
}

function editOf(
  engine: Engine,
  request: ApiRequest,
  served: Served,
  { current, body }: { readonly current: ApiObject; readonly body: unknown },
): Edit {
  if (request.verb === 'update') return { body }
  if (request.patchType === undefined) throw badRequest('a patch needs a patch type')
  if (request.patchType === 'apply-patch') return appliedTo(ownedWriteOf(engine, request, served), { ...request, body }, served, current)
  const whole = namesManagedFields(body) ? withManagedFields(current) : current
  return { body: applyPatch(served.definition, whole, request.patchType, body) }
}

function namesManagedFields(patch: unknown): boolean {
  if (!Array.isArray(patch)) return objectOrEmpty(objectOrEmpty(patch)['metadata'])['managedFields'] !== undefined
  return patch.some((operation) => String(objectOrEmpty(operation)['path']).startsWith('/metadata/managedFields'))
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
  decoded: DecodedObject & { readonly applied: Owners | undefined },
  current: ApiObject,
): Promise<PreparedChange> {
  const { sent, next: draft } = nextObject(request, served, decoded, current)
  const { managedFields } = decoded.meta
  const owners = decoded.applied ?? ownersAfter(ownedWriteOf(engine, request, served), served, current, { object: sent, managedFields })
  const isMarked = request.verb === 'update' && served.definition.strategy.asSent !== undefined
  const owned = { owners, isOwned: decoded.applied !== undefined || managedFields !== undefined || isMarked }
  if (!needsAdmission(engine, request, served, 'UPDATE')) return { ...validated(served, decoded, draft, current), ...owned }
  const name = current.metadata.name
  const answer = await admitted(engine, request, served, { operation: 'UPDATE', name, oldObject: current, object: draft })
  // The result of admission obeys the same rules: the main resource changes no status, the status subresource changes nothing else.
  const { object = draft } = answer
  const { next } = nextObject(request, served, { ...decoded, object: { ...object }, meta: object.metadata }, current)
  const change = validated(served, { ...decoded, warnings: [...decoded.warnings, ...answer.warnings] }, next, current)
  const warnings = await confirmed(engine, request, served, { operation: 'UPDATE', name, oldObject: current, object: change.next })
  return { ...change, ...owned, warnings: [...change.warnings, ...warnings] }
}

/** @returns object as sent with defaults, and object to store */
function nextObject(request: ApiRequest, served: Served, { object, meta }: DecodedObject, current: ApiObject): NextObject {
  const { definition } = served
  const metadata = metaForUpdate(meta, current.metadata)
  const whole = { ...object, metadata } as unknown as ApiObject
  const sent = definition.strategy.defaults((served.schemas.get(definition.version)?.applyDefaults(whole) ?? whole) as ApiObject)
  return { sent, next: preparedObject(request, served, sent, current) }
}

interface NextObject {
  readonly sent: ApiObject
  readonly next: ApiObject
}

function preparedObject(request: ApiRequest, served: Served, sent: ApiObject, current: ApiObject): ApiObject {
  const { definition } = served
  if (request.subresource === 'finalize') return shared({ ...current, spec: sent['spec'] }, current)
  if (request.subresource === 'status') return shared(statusChange(served, sent, current), current)
  const withStatus = definition.subresources.includes('status') ? withField(sent, 'status', current['status']) : sent
  const next = shared(definition.strategy.prepareUpdate(withStatus, current), current)
  return withGeneration(request, served, next, current)
}

/** Through the status subresource, built-in kinds accept metadata too; custom resources accept the status alone. */
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

function validated(served: Served, decoded: DecodedObject, next: ApiObject, current: ApiObject): Pick<PreparedChange, 'next' | 'warnings'> {
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
  const { next, current, warnings, owners, isOwned } = change
  if (request.options?.dryRun) return { kind: 'object', code: 200, object: freezeDeep(setOwners({ ...next }, owners)), warnings }
  if (isFinished(served, next)) {
    removeObject(engine, request, served, current)
    return { kind: 'object', code: 200, object: freezeDeep(setOwners({ ...next }, owners)), warnings }
  }
  const { namespace, name } = current.metadata
  const isWhole = !engine.store.bucket(served.id).isReduced(storeKey(namespace, name))
  const isSame = isWhole && jsonEqual(next, current) && (!isOwned || sameManagers(owners.managers(), ownersOf(current).managers()))
  const object = isSame ? current : putObject(engine, request, served, next, owners)
  return { kind: 'object', code: 200, object, warnings }
}

/** Unchanged fields are taken from the stored object, so that versions of an object share memory. */
function shared(next: ApiObject, current: ApiObject): ApiObject {
  const result: Record<string, unknown> = { ...next }
  for (const [field, value] of Object.entries(next)) if (jsonEqual(value, current[field])) result[field] = current[field]
  return result as unknown as ApiObject
}

function withField(object: ApiObject, field: string, value: unknown): ApiObject {
  const { [field]: _old, ...rest } = object
  return (value === undefined ? rest : { ...rest, [field]: value }) as ApiObject
}
