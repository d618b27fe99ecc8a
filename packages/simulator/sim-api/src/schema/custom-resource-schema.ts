import type { StatusCause } from '../status-error.ts'
import { applyDefaults } from './apply-defaults.ts'
import type { Decoded } from './decode.ts'
import { evaluateRules } from './rules/evaluate-rules.ts'
import { ruleTree, type RuleTree } from './rules/compile-rules.ts'
import type { JsonSchema } from './json-schema.ts'
import { pruneCustomResource } from './prune.ts'
import { validateAgainstSchema } from './validate.ts'
import type { JsonObject } from '../store/json.ts'

/**
 * What a CustomResourceDefinition's schema says about its objects. Nothing here changes the object given to it.
 */
export interface CustomResourceSchema {
  /** Drops and names what the schema does not have; `metadata` is read as ObjectMeta. */
  prune(object: JsonObject): Decoded
  /** Fills in defaults; a null where null is not allowed counts as absent when there is a default. */
  applyDefaults(object: JsonObject): JsonObject
  /**
   * Rules in CEL are evaluated once the object has the form that the schema asks for.
   *
   * @param old the object as it is stored, on updates
   * @returns one cause for each fault, in the order of the schema; empty when the object is valid
   */
  validate(object: JsonObject, old?: JsonObject): readonly StatusCause[]
}

/** @param openAPIV3Schema as it stands in the version of the CustomResourceDefinition; without one, everything is kept */
export function createCustomResourceSchema(openAPIV3Schema: unknown): CustomResourceSchema {
  const schema = (openAPIV3Schema ?? { 'x-kubernetes-preserve-unknown-fields': true }) as JsonSchema
  let rules: { readonly tree: RuleTree | undefined } | undefined
  return {
    prune: (object) => pruneCustomResource(schema, object),
    applyDefaults: (object) => applyDefaults(schema, object) as JsonObject,
    validate(object, old) {
      rules ??= { tree: ruleTree(schema) }
      const causes = validateAgainstSchema(schema, object)
      if (rules.tree === undefined) return causes
      if (causes.some(({ reason }) => blocking.has(reason ?? ''))) return [...causes, notChecked]
      return [...causes, ...evaluateRules(rules.tree, object, old)]
    },
  }
}

/** Faults after which rules would only repeat what is wrong already. */
const blocking: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

const notChecked: StatusCause = {
  reason: 'FieldValueInvalid',
  field: '<nil>',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
}
