import type { Clock } from '@tranche/clock'
import type { Actor, ApiObject } from '../client.ts'
import { freezeDeep } from '../store/json.ts'
import type { Random } from '../store/random.ts'
import type { Store } from '../store/store.ts'
import type { Admission, AdmissionReview } from './admission.ts'
import type { Registry, Served } from './registry.ts'
import type { ApiRequest, Verb } from './request.ts'

/** What the parts of the server share. */
export interface Engine {
  readonly clock: Clock
  readonly store: Store
  readonly registry: Registry
  /** Where uids and generated names come from. */
  readonly names: Random
  /** Undefined while nothing is hooked in. */
  admission: Admission | undefined
  /** On whose behalf the store is being written, for observers; set for the duration of each write. */
  writer: { readonly actor: Actor; readonly verb: Verb } | undefined
}

/** Stores an object on behalf of a request. */
export function putObject(engine: Engine, request: ApiRequest, served: Served, object: ApiObject): ApiObject {
  return writing(engine, request, () => engine.store.put(served.id, object))
}

/** Removes a stored object on behalf of a request. */
export function removeObject(engine: Engine, request: ApiRequest, served: Served, object: ApiObject): ApiObject {
  return writing(engine, request, () => engine.store.remove(served.id, object))
}

/**
 * Asks admission, if it wants to be asked.
 *
 * @returns the object to go on with, and warnings for the user
 * @throws {ApiStatusError} what admission answers when it refuses
 */
export async function admitted(
  engine: Engine,
  request: ApiRequest,
  served: Served,
  write: Pick<AdmissionReview, 'operation' | 'name' | 'oldObject' | 'object'>,
): Promise<{ readonly object: ApiObject | undefined; readonly warnings: readonly string[] }> {
  const review: AdmissionReview = {
    ...write,
    object: freezeDeep(write.object),
    actor: request.actor,
    resource: served.id,
    kind: served.definition.kind,
    namespace: request.namespace,
    subresource: request.subresource,
    dryRun: request.options?.dryRun === true,
  }
  const answer = await engine.admission!.admit(review)
  if (!answer.allowed) throw answer.error
  return { object: answer.object ?? review.object, warnings: answer.warnings ?? [] }
}

/** @returns whether admission wants to be asked: only then does a write wait between reading and storing */
export function needsAdmission(engine: Engine, request: ApiRequest, served: Served, operation: AdmissionReview['operation']): boolean {
  return engine.admission?.handles({ operation, resource: served.id, subresource: request.subresource }) === true
}

/** @returns the moment as the API writes it: whole seconds, UTC */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

function writing<T>(engine: Engine, request: ApiRequest, write: () => T): T {
  const outer = engine.writer
  engine.writer = { actor: request.actor, verb: request.verb }
  try {
    return write()
  } finally {
    engine.writer = outer
  }
}
