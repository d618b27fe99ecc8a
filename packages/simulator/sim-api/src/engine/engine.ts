import type { Clock } from '@tranche/clock'
import type { Actor, ApiObject } from '../model/client.ts'
import { freezeDeep, jsonEqual } from '../model/json.ts'
import type { Owners } from '../ownership/owners.ts'
import type { Random } from '../model/random.ts'
import type { Store } from '../store/store.ts'
import type { Admission, AdmissionReview } from '../admission/admission.ts'
import type { Policies } from '../admission/policies/policies.ts'
import type { RequestPlace } from '../admission/webhook-match.ts'
import type { Webhooks } from '../admission/webhooks.ts'
import { placeOf, type WebhookWrite } from '../admission/webhook-write.ts'
import type { Registry, Served } from '../resources/registry.ts'
import type { ApiRequest, Verb } from '../model/request.ts'

/** State shared by the parts of the server. */
export interface Engine {
  readonly clock: Clock
  readonly store: Store
  readonly registry: Registry
  /** Source of uids and generated names. */
  readonly names: Random
  /** Undefined while no admission hook is set. */
  admission: Admission | undefined
  /** Calls the webhooks of the stored configurations. */
  readonly webhooks: Webhooks
  /** Evaluates the stored admission policies. */
  readonly policies: Policies
  /** Request of the current store write, for observers; set for the duration of each write. */
  writer: { readonly actor: Actor; readonly verb: Verb; readonly request?: ApiRequest } | undefined
}

/** Stores an object for a request. @param owners of its fields; @default the previous ones */
export function putObject(engine: Engine, request: ApiRequest, served: Served, object: ApiObject, owners?: Owners): ApiObject {
  return writing(engine, request, () => engine.store.put(served.id, object, owners))
}

/** Removes a stored object for a request. */
export function removeObject(engine: Engine, request: ApiRequest, served: Served, object: ApiObject): ApiObject {
  return writing(engine, request, () => engine.store.remove(served.id, object))
}

/**
 * Runs mutating admission, if it matches.
 *
 * @returns object to continue with, and warnings for the user
 * @throws {ApiStatusError} response of admission when it refuses
 */
export async function admitted(
  engine: Engine,
  request: ApiRequest,
  served: Served,
  write: Pick<AdmissionReview, 'operation' | 'name' | 'oldObject' | 'object'>,
): Promise<{ readonly object: ApiObject | undefined; readonly warnings: readonly string[] }> {
  const review = webhookWrite(request, served, write)
  const { object, warnings } = await admittedInProcess(engine, review)
  if (!isAskedFor(engine, placeOf(review))) return { object, warnings }
  const asked: WebhookWrite = { ...review, object: freezeDeep(object) }
  const mutated = await mutatedObject(engine, asked)
  const next = { object: complete(request, served, mutated.object), warnings: [...warnings, ...mutated.warnings] }
  if (write.operation !== 'DELETE') return next
  return { ...next, warnings: [...next.warnings, ...(await validated(engine, asked))] }
}

/** Runs policies, then webhooks. Policies with reinvocation see the changes of webhooks once more. */
async function mutatedObject({ policies, webhooks }: Engine, asked: WebhookWrite) {
  const object = freezeDeep(policies.mutate(asked))
  const mutated = await webhooks.mutate({ ...asked, object })
  if (jsonEqual(mutated.object, object)) return mutated
  return { ...mutated, object: policies.mutate({ ...asked, object: freezeDeep(mutated.object) }, true) }
}

async function validated({ policies, webhooks }: Engine, asked: WebhookWrite): Promise<readonly string[]> {
  return [...policies.validate(asked), ...(await webhooks.validate(asked))]
}

function isAskedFor({ policies, webhooks }: Engine, place: RequestPlace): boolean {
  return policies.handles(place) || webhooks.handles(place)
}

/**
 * Runs validating policies and webhooks on a valid object. Deletions have already been admitted.
 *
 * @returns warnings for the user
 * @throws {ApiStatusError} refusal
 */
export async function confirmed(
  engine: Engine,
  request: ApiRequest,
  served: Served,
  write: Pick<AdmissionReview, 'operation' | 'name' | 'oldObject' | 'object'>,
): Promise<readonly string[]> {
  const asked = webhookWrite(request, served, write)
  return isAskedFor(engine, placeOf(asked)) ? validated(engine, asked) : []
}

/** @returns whether admission matches: only then does a write wait between reading and storing */
export function needsAdmission(engine: Engine, request: ApiRequest, served: Served, operation: AdmissionReview['operation']): boolean {
  if (engine.admission?.handles({ operation, resource: served.id, subresource: request.subresource }) === true) return true
  const { definition } = served
  const { subresource, version = definition.version } = request
  return isAskedFor(engine, placeOf({ definition, version, operation, subresource }))
}

async function admittedInProcess(engine: Engine, review: AdmissionReview) {
  const asked = engine.admission?.handles(review) === true ? await engine.admission.admit(review) : undefined
  if (asked?.allowed === false) throw asked.error
  return { object: asked?.object ?? review.object, warnings: asked?.warnings ?? [] }
}

function webhookWrite(
  request: ApiRequest,
  served: Served,
  write: Pick<AdmissionReview, 'operation' | 'name' | 'oldObject' | 'object'>,
): WebhookWrite {
  const { definition } = served
  const { dryRun = false, fieldManager, fieldValidation } = request.options ?? {}
  return {
    ...write,
    object: freezeDeep(write.object),
    actor: request.actor,
    resource: served.id,
    kind: definition.kind,
    namespace: definition.namespaced ? request.namespace : undefined,
    subresource: request.subresource,
    dryRun,
    definition,
    version: request.version ?? definition.version,
    options: {
      kind: OPTION_KINDS[request.verb] ?? 'DeleteOptions',
      apiVersion: 'meta.k8s.io/v1',
      ...(dryRun && { dryRun: ['All'] }),
      ...(fieldManager && { fieldManager }),
      ...(fieldValidation && { fieldValidation }),
    },
  }
}

const OPTION_KINDS: Readonly<Partial<Record<Verb, string>>> = { create: 'CreateOptions', update: 'UpdateOptions', patch: 'PatchOptions' }

/** A webhook may have removed defaults of the schema, or added fields that it does not have. */
function complete(request: ApiRequest, served: Served, object: ApiObject | undefined): ApiObject | undefined {
  const schema = served.schemas.get(request.version ?? served.definition.version)
  if (object === undefined || schema === undefined) return object
  return schema.applyDefaults(schema.prune(object).object) as ApiObject
}

function writing<T>(engine: Engine, request: ApiRequest, write: () => T): T {
  const outer = engine.writer
  engine.writer = { actor: request.actor, verb: request.verb, request }
  try {
    return write()
  } finally {
    engine.writer = outer
  }
}
