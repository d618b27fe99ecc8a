import type { ApiObject, ResourceId } from '../client.ts'
import type { StatusCause } from '../status-error.ts'
import type { JsonObject } from '../store/json.ts'

export type { JsonObject }

/** A resource that the server serves: its names, and what is particular about its objects. */
export interface ResourceDefinition {
  /** Empty for the core group. */
  readonly group: string
  /** The version that is stored. */
  readonly version: string
  /** All versions served, the stored one among them, in order of preference. Objects are served as they are stored. */
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
  /** Set for resources that a CustomResourceDefinition brought: that object. */
  readonly customResourceDefinition?: ApiObject
  /** Set for custom resources that have a subresource `scale`. */
  readonly scale?: ScalePaths
  readonly strategy: Strategy
}

/** Where objects say how many they stand for: dotted paths from the root, such as `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicas: string
  readonly statusReplicas: string
  readonly labelSelector?: string
}

/**
 * What is particular about the objects of one resource. Every function is pure and gets frozen objects; the ones that
 * change something return a new object that shares what it did not change.
 */
export interface Strategy {
  /** Fields beside `metadata.name` and `metadata.namespace` by which lists and watches can be filtered, and how to read them. */
  readonly selectableFields: Readonly<Record<string, (object: ApiObject) => string>>
  /** Whether objects carry `metadata.generation`: 1 at first, raised when anything outside metadata and status changes. */
  readonly hasGeneration: boolean
  /** Whether a PUT without `metadata.resourceVersion` is taken as it is; else it is 422. */
  readonly allowUnconditionalUpdate: boolean
  /** Whether a PUT of an object that does not exist creates it; else it is 404. */
  readonly allowCreateOnUpdate: boolean
  /** How strategic merge patches treat lists; null where that format is not served (custom resources). */
  readonly mergeKeys: MergeKeys | null
  /** Fills in what the user may leave out. Runs on every write before validation. */
  defaults(object: ApiObject): ApiObject
  /** @returns an object as its writer is taken to have sent it; for kinds that carry a field of the server's own among the writer's */
  readonly asSent?: (object: ApiObject) => ApiObject
  /** Clears what a creator may not set, and sets what the server owns. Runs after `defaults`. */
  prepareCreate(object: ApiObject): ApiObject
  /** Puts back what an updater may not set. Runs after `defaults`; never for the status subresource. */
  prepareUpdate(object: ApiObject, old: ApiObject): ApiObject
  /** @returns everything that is wrong with the object; metadata is checked elsewhere */
  validate(object: ApiObject): readonly StatusCause[]
  /** @returns everything that may not change as it did; `validate` has been called as well */
  validateUpdate(object: ApiObject, old: ApiObject): readonly StatusCause[]
  /** @returns what the writer is to be told about an object that is taken; `old` is given on updates */
  readonly warnings?: (object: ApiObject, old?: ApiObject) => readonly string[]
  /** Called when a delete marks the object instead of removing it; sets what else shows that. */
  readonly prepareDeletion?: (object: ApiObject) => ApiObject
  /** @returns whether something beside `metadata.finalizers` keeps a deleted object */
  readonly isKept?: (object: ApiObject) => boolean
  /** @returns seconds between a delete and the object's removal; 0 removes at once. Absent: always 0, and no grace period is stored. */
  readonly gracePeriodSeconds?: (object: ApiObject, asked: number | undefined) => number
}

/** How a list merges, by the path of its field from the object's root, list indexes left out: by the merge key of its items, as a set of plain values, or not at all. */
export type MergeKeys = (path: readonly string[]) => { readonly key: string } | 'set' | 'atomic'

/**
 * What the schema of a resource knows. Each function is pure. `prune` runs first, then `applyDefaults`, then `validate`.
 */
export interface ObjectSchema {
  /**
   * @param known an object that has been pruned: parts that the two share need not be looked at again
   * @returns the object without the fields that the schema does not know, and their paths (`spec.steps[0].colour`); the same object when there are none
   */
  prune(object: JsonObject, known?: JsonObject): { readonly object: JsonObject; readonly unknownFields: readonly string[] }
  /** @returns the object with the schema's defaults filled in; the same object when none applied */
  applyDefaults(object: JsonObject): JsonObject
  /** @returns what is wrong, with `reason` (`FieldValueInvalid` …), `message` and `field`; `old` is given on updates */
  validate(object: JsonObject, old?: JsonObject): readonly StatusCause[]
}

/** Where schemas come from. Without one, nothing is pruned, defaulted or checked by schema. */
export interface SchemaSource {
  /** Schema of one version of a custom resource; called whenever the CustomResourceDefinition changes. May throw ApiStatusError (422) for an unusable schema. */
  custom(definition: ApiObject, version: string): ObjectSchema
  /** Schema of a resource that the server knows by itself: only `prune` is used, for `fieldValidation`. Undefined where there is none. */
  builtIn(group: string, version: string, kind: string): ObjectSchema | undefined
}

/** @returns group and plural of a definition */
export function idOf(definition: Pick<ResourceDefinition, 'group' | 'plural'>): ResourceId {
  return { group: definition.group, resource: definition.plural }
}
