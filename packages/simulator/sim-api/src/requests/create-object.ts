import { type ApiMeta, type ApiObject, resources } from '../model/client.ts'
import { ApiStatusError } from '../model/status-error.ts'
import { storeKey } from '../store/bucket.ts'
import { freezeDeep, importJson, objectOrEmpty } from '../model/json.ts'
import { randomUuid } from '../model/random.ts'
import { admitPod } from '../engine/admit-pod.ts'
import { decodeObject, type DecodedObject } from './decode-object.ts'
import { admitted, confirmed, type Engine, needsAdmission, putObject } from '../engine/engine.ts'
import { timestamp } from '../model/timestamp.ts'
import { alreadyExists, badRequest, forbidden, invalidObject, notFound } from '../model/errors.ts'
import { type Owners, setOwners } from '../ownership/owners.ts'
import { metaForCreate, validateMeta } from '../model/metadata.ts'
import { generateName } from '../model/names.ts'
import { ownedWriteOf, ownersAfter } from './owned-write.ts'
import { chargeQuotas } from '../engine/charge-quotas.ts'
import { isPods } from '../quota/usage.ts'
import type { Served } from '../resources/registry.ts'
import type { ApiRequest, ApiResult } from '../model/request.ts'

const NAME_ATTEMPTS = 8

/**
 * Creates an object.
 *
 * @param applied field owners, when it is created by an apply; by default its creator owns all fields sent
 * @throws {ApiStatusError} 400, 403 (namespace terminating), 404 (no such namespace), 409 (exists), 422, or the response of admission
 */
export async function createObject(engine: Engine, request: ApiRequest, served: Served, applied?: Owners): Promise<ApiResult> {
  if (served.definition.namespaced && !request.namespace) throw badRequest('an empty namespace may not be set during creation')
  const decoded = decodeObject(request, served, importJson(request.body))
  if (decoded.meta.resourceVersion)
    throw new ApiStatusError(500, 'InternalError', 'resourceVersion should not be set on objects to be created')
  const { sent, object: unadmitted } = draftObject(engine, request, served, decoded)
  const write = ownedWriteOf(engine, request, served)
  const owners = applied ?? ownersAfter(write, served, undefined, { object: sent, managedFields: decoded.meta.managedFields })
  refuseNamespace(engine, request, served, unadmitted.metadata.name)
  const draft = isPods(served.id) ? admitPod(engine, unadmitted) : unadmitted
  const warnings = [...decoded.warnings]
  let object = draft
  const isAsked = needsAdmission(engine, request, served, 'CREATE')
  if (isAsked) {
    const answer = await admitted(engine, request, served, {
      operation: 'CREATE',
      name: draft.metadata.name,
      oldObject: undefined,
      object: draft,
    })
    const { strategy } = served.definition
    object = strategy.prepareCreate(strategy.defaults(answer.object!))
    warnings.push(...answer.warnings)
  }
  refuseNamespace(engine, request, served, object.metadata.name)
  request.guard?.(object, undefined)
  refuseInvalid(served, object)
  const review = { operation: 'CREATE', name: object.metadata.name, oldObject: undefined, object } as const
  warnings.push(...(served.definition.strategy.warnings?.(object) ?? []))
  if (isAsked) warnings.push(...(await confirmed(engine, request, served, review)))
  if (engine.store.bucket(served.id).get(keyOfObject(object)) !== undefined) throw alreadyExists(served.id, object.metadata.name)
  chargeQuotas(engine, request, served, object)
  const stored = request.options?.dryRun
    ? freezeDeep(setOwners(withoutVersion(object), owners))
    : putObject(engine, request, served, object, owners)
  return { kind: 'object', code: 201, object: stored, warnings }
}

/** An object that is not stored has no version. */
function withoutVersion(object: ApiObject): ApiObject {
  const { resourceVersion: _none, ...metadata } = object.metadata
  return { ...object, metadata: metadata as ApiMeta }
}

/** @returns object as sent with defaults, and object to store */
function draftObject(engine: Engine, request: ApiRequest, served: Served, { object, meta }: DecodedObject): Draft {
  const { strategy, namespaced } = served.definition
  const metadata = metaForCreate(meta, {
    name: meta.name || request.name || freeName(engine, request, served, meta.generateName),
    namespace: namespaced ? request.namespace : undefined,
    uid: randomUuid(engine.names),
    creationTimestamp: timestamp(engine.clock.nowMs()),
  })
  const withMeta = { ...object, metadata: strategy.hasGeneration ? { ...metadata, generation: 1 } : metadata } as unknown as ApiObject
  const defaulted = (schemaOf(request, served)?.applyDefaults(withMeta) ?? withMeta) as ApiObject
  const sent = strategy.defaults(defaulted)
  return { sent, object: strategy.prepareCreate(sent) }
}

interface Draft {
  readonly sent: ApiObject
  readonly object: ApiObject
}

function freeName(engine: Engine, request: ApiRequest, served: Served, base: string | undefined): string {
  if (!base) return ''
  const bucket = engine.store.bucket(served.id)
  for (let attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
    const name = generateName(base, engine.names)
    if (bucket.get(storeKey(served.definition.namespaced ? request.namespace : undefined, name)) === undefined) return name
  }
  const why = `the server was not able to generate a unique name for the object`
  throw new ApiStatusError(409, 'AlreadyExists', `${served.id.resource} ${JSON.stringify(base)} already exists, ${why}`, {
    name: base,
    ...(served.id.group !== '' && { group: served.id.group }),
    kind: served.id.resource,
    retryAfterSeconds: 1,
  })
}

function refuseNamespace(engine: Engine, request: ApiRequest, served: Served, name: string): void {
  if (!served.definition.namespaced) return
  const namespace = engine.store.bucket(resources.namespaces).get(request.namespace!)
  if (namespace === undefined) throw notFound(resources.namespaces, request.namespace!)
  if (namespace.metadata.deletionTimestamp === undefined && objectOrEmpty(namespace['status'])['phase'] !== 'Terminating') return
  const why = `unable to create new content in namespace ${request.namespace} because it is being terminated`
  throw forbidden(served.id, name, why, [
    { reason: 'NamespaceTerminating', message: `namespace ${request.namespace} is being terminated`, field: 'metadata.namespace' },
  ])
}

function refuseInvalid(served: Served, object: ApiObject): void {
  const { definition } = served
  const causes = [
    ...validateMeta(definition, object),
    ...(served.schemas.get(definition.version)?.validate(object) ?? []),
    ...definition.strategy.validate(object),
  ]
  if (causes.length > 0) throw invalidObject(definition, object.metadata.name, causes)
}

function schemaOf(request: ApiRequest, served: Served) {
  return served.schemas.get(request.version ?? served.definition.version)
}

function keyOfObject(object: ApiObject): string {
  return storeKey(object.metadata.namespace, object.metadata.name)
}
