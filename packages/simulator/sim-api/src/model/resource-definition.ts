import type { ApiObject, ResourceId } from './client.ts'
import type { StatusCause } from './status-error.ts'
import type { JsonObject } from './json.ts'

export type { JsonObject }

/** Served resource: its names, and the strategy of its objects. */
export interface ResourceDefinition {
  /** Empty for the core group. */
  readonly group: string
  /** Storage version. */
  readonly version: string
  /** All served versions, including the storage version, in order of preference. Objects are served as stored. */
  readonly versions: readonly string[]
  readonly kind: string
  readonly listKind: string
  readonly plural: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  /** `status`, `scale`, `binding`, `eviction`. */
  readonly subresources: readonly string[]
  /** The CustomResourceDefinition of a custom resource. */
  readonly customResourceDefinition?: ApiObject
  /** Set for custom resources with a `scale` subresource. */
  readonly scale?: ScalePaths
  readonly strategy: Strategy
}

/** Dotted paths of the replica fields from the root, such as `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicas: string
  readonly statusReplicas: string
  readonly labelSelector?: string
}

/**
 * Strategy of one resource's objects. Every function is pure and gets frozen objects. A function that changes an object returns a new one
 * that shares the unchanged parts.
 */
export interface Strategy {
  /** Selectable fields beside `metadata.name` and `metadata.namespace`, and how to read them. */
  readonly selectableFields: Readonly<Record<string, (object: ApiObject) => string>>
  /** Whether objects have `metadata.generation`: 1 at first, incremented by changes outside metadata and status. */
  readonly hasGeneration: boolean
  /** Whether a PUT without `metadata.resourceVersion` is accepted unconditionally; else it is 422. */
  readonly allowUnconditionalUpdate: boolean
  /** Whether a PUT of an object that does not exist creates it; else it is 404. */
  readonly allowCreateOnUpdate: boolean
  /** Merge keys for strategic merge patches; null when that format is not supported (custom resources). */
  readonly mergeKeys: MergeKeys | null
  /** Sets defaults. Runs on every write before validation. */
  defaults(object: ApiObject): ApiObject
  /** @returns object as its writer is considered to have sent it; for kinds with a server-owned field among the writer's */
  readonly asSent?: (object: ApiObject) => ApiObject
  /** Clears fields that a creator may not set, and sets those of the server. Runs after `defaults`. */
  prepareCreate(object: ApiObject): ApiObject
  /** Restores fields that an updater may not change. Runs after `defaults`; never for the status subresource. */
  prepareUpdate(object: ApiObject, old: ApiObject): ApiObject
  /** @returns validation errors of the object, without those of metadata */
  validate(object: ApiObject): readonly StatusCause[]
  /** @returns errors of forbidden changes; `validate` has been called as well */
  validateUpdate(object: ApiObject, old: ApiObject): readonly StatusCause[]
  /** @returns warnings about an accepted object; `old` is given on updates */
  readonly warnings?: (object: ApiObject, old?: ApiObject) => readonly string[]
  /** Called when a delete marks the object instead of removing it; sets further deletion fields. */
  readonly prepareDeletion?: (object: ApiObject) => ApiObject
  /** @returns whether something beside `metadata.finalizers` keeps a deleted object */
  readonly isKept?: (object: ApiObject) => boolean
  /** @returns seconds between a delete and the object's removal; 0 removes at once. Absent: always 0, and no grace period is stored. */
  readonly gracePeriodSeconds?: (object: ApiObject, asked: number | undefined) => number
}

/**
 * Merge behaviour of a list: by the merge key of its items, as a set of plain values, or atomic. The path is that of its field from the
 * object's root without list indexes.
 */
export type MergeKeys = (path: readonly string[]) => { readonly key: string } | 'set' | 'atomic'

/** Schema functions of a resource. Each is pure. `prune` runs first, then `applyDefaults`, then `validate`. */
export interface ObjectSchema {
  /**
   * @param known a pruned object, whose parts shared with this one are not checked again
   * @returns object without unknown fields, and their paths (`spec.steps[0].colour`); the same object when there are none
   */
  prune(object: JsonObject, known?: JsonObject): { readonly object: JsonObject; readonly unknownFields: readonly string[] }
  /** @returns the object with the schema's defaults filled in; the same object when none applied */
  applyDefaults(object: JsonObject): JsonObject
  /** @returns errors with `reason` (`FieldValueInvalid` …), `message` and `field`; `old` is given on updates */
  validate(object: JsonObject, old?: JsonObject): readonly StatusCause[]
}

/** Source of schemas. Without one, nothing is pruned, defaulted or validated by schema. */
export interface SchemaSource {
  /**
   * Schema of one version of a custom resource; called whenever the CustomResourceDefinition changes. May throw ApiStatusError (422) for an
   * invalid schema.
   */
  custom(definition: ApiObject, version: string): ObjectSchema
  /** Schema of a built-in resource: only `prune` is used, for `fieldValidation`. Undefined when there is none. */
  builtIn(group: string, version: string, kind: string): ObjectSchema | undefined
}

/** @returns group and plural of a definition */
export function idOf(definition: Pick<ResourceDefinition, 'group' | 'plural'>): ResourceId {
  return { group: definition.group, resource: definition.plural }
}
