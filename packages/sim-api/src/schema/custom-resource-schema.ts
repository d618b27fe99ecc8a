import type { StatusCause } from '../status-error.ts'
import { applyDefaults } from './apply-defaults.ts'
import type { Decoded } from './decode.ts'
import type { JsonRecord, JsonSchema } from './json-schema.ts'
import { pruneCustomResource } from './prune.ts'
import { validateAgainstSchema } from './validate.ts'

/**
 * What a CustomResourceDefinition's schema says about its objects. Nothing here changes the object given to it.
 * Rules in CEL (`x-kubernetes-validations`) are not evaluated.
 */
export interface CustomResourceSchema {
  /** Drops and names what the schema does not have; `metadata` is read as ObjectMeta. */
  prune(object: JsonRecord): Decoded
  /** Fills in defaults; a null where null is not allowed counts as absent when there is a default. */
  applyDefaults(object: JsonRecord): JsonRecord
  /** @returns one cause for each fault, in the order of the schema; empty when the object is valid */
  validate(object: JsonRecord): readonly StatusCause[]
}

/** @param openAPIV3Schema as it stands in the version of the CustomResourceDefinition; without one, everything is kept */
export function createCustomResourceSchema(openAPIV3Schema: unknown): CustomResourceSchema {
  const schema = (openAPIV3Schema ?? { 'x-kubernetes-preserve-unknown-fields': true }) as JsonSchema
  return {
    prune: (object) => pruneCustomResource(schema, object),
    applyDefaults: (object) => applyDefaults(schema, object) as JsonRecord,
    validate: (object) => validateAgainstSchema(schema, object),
  }
}
