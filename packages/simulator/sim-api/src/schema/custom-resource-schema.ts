import type { StatusCause } from '../model/status-error.ts'
import { applyDefaults } from './apply-defaults.ts'
import type { Decoded } from './decode.ts'
import { evaluateRules } from './rules/evaluate-rules.ts'
import { ruleTree, type RuleTree } from './rules/compile-rules.ts'
import type { JsonSchema } from '../model/json-schema.ts'
import { pruneCustomResource } from './prune.ts'
import { withoutUnchanged } from './unchanged-causes.ts'
import { validateAgainstSchema } from './validate.ts'
import type { JsonObject } from '../model/json.ts'

/** Schema of a CustomResourceDefinition. Its functions never change their arguments. */
export interface CustomResourceSchema {
  /** Drops unknown fields and returns their paths; `metadata` is decoded as ObjectMeta. */
  prune(object: JsonObject): Decoded
  /** Sets defaults; a forbidden null counts as absent when there is a default. */
  applyDefaults(object: JsonObject): JsonObject
  /**
   * Validates an object. CEL rules are evaluated once the object has the form of the schema. An update may keep a stored value that is
   * invalid.
   *
   * @param old stored object, on updates
   * @returns one cause per error, in the order of the schema; empty when the object is valid
   */
  validate(object: JsonObject, old?: JsonObject): readonly StatusCause[]
}

/** @param openAPIV3Schema of the version in the CustomResourceDefinition; without one, all fields are kept */
export function createCustomResourceSchema(openAPIV3Schema: unknown): CustomResourceSchema {
  const schema = (openAPIV3Schema ?? { 'x-kubernetes-preserve-unknown-fields': true }) as JsonSchema
  let rules: { readonly tree: RuleTree | undefined } | undefined
  return {
    prune: (object) => pruneCustomResource(schema, object),
    applyDefaults: (object) => applyDefaults(schema, object) as JsonObject,
    validate(object, old) {
      rules ??= { tree: ruleTree(schema) }
      const causes = withoutUnchanged(validateAgainstSchema(schema, object), object, old)
      if (rules.tree === undefined) return causes
      if (causes.some(({ reason }) => blocking.has(reason ?? ''))) return [...causes, notChecked]
      return [...causes, ...withoutUnchanged(evaluateRules(rules.tree, object, old), object, old)]
    },
  }
}

/** Errors after which rules would only repeat what is already reported. */
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
