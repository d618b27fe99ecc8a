import { compilePattern } from '@tranche/cel'
import type { StatusCause } from '../model/status-error.ts'
import type { JsonSchema } from '../model/json-schema.ts'
import { validateAgainstSchema } from './validate.ts'
import { isObject, type JsonObject } from '../model/json.ts'

/**
 * @returns errors of a CustomResourceDefinition's schema: it must be structural, with valid patterns and valid defaults
 * @see Kubernetes documentation, CustomResourceDefinition, "specifying a structural schema"
 */
export function structuralCauses(openAPIV3Schema: unknown): readonly StatusCause[] {
  const path = 'spec.validation.openAPIV3Schema'
  if (!isObject(openAPIV3Schema)) return [required(path, 'schemas are required')]
  const causes: StatusCause[] = []
  if (openAPIV3Schema['type'] !== 'object')
    causes.push({
      reason: 'FieldValueInvalid',
      field: `${path}.type`,
      message: `Invalid value: ${JSON.stringify(openAPIV3Schema['type'] ?? '')}: must be object at the root`,
    })
  checkStructure(openAPIV3Schema, path, causes)
  return causes
}

function checkStructure(schema: JsonSchema & JsonObject, path: string, causes: StatusCause[]): void {
  if (!schema.type && schema['x-kubernetes-int-or-string'] !== true && schema['x-kubernetes-preserve-unknown-fields'] !== true)
    causes.push(required(`${path}.type`, 'must not be empty for specified object fields'))
  checkForbidden(schema, path, causes)
  checkValues(schema, path, causes)
  checkCombined(schema, path, causes)
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    checkStructure(record(property), `${path}.properties[${name}]`, causes)
  if (isObject(schema.additionalProperties)) checkStructure(schema.additionalProperties, `${path}.additionalProperties`, causes)
  if (schema.items !== undefined) checkStructure(record(schema.items), `${path}.items`, causes)
  else if (schema.type === 'array') causes.push(required(`${path}.items`, 'must be specified'))
}

function checkForbidden(schema: JsonSchema & JsonObject, path: string, causes: StatusCause[]): void {
  if (schema['uniqueItems'] === true)
    causes.push(forbidden(`${path}.uniqueItems`, 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'))
  if (schema.additionalProperties === false)
    causes.push(forbidden(`${path}.additionalProperties`, 'additionalProperties cannot be set to false'))
  if (schema.additionalProperties !== undefined && Object.keys(schema.properties ?? {}).length > 0)
    causes.push(forbidden(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'))
  for (const field of ['$ref', 'definitions', 'dependencies', 'id', 'patternProperties'])
    if (schema[field] !== undefined) causes.push(forbidden(`${path}.${field}`, `${field} is not supported`))
}

function checkValues(schema: JsonSchema & JsonObject, path: string, causes: StatusCause[]): void {
  if (schema.pattern !== undefined && !isPattern(schema.pattern))
    causes.push({
      reason: 'FieldValueInvalid',
      field: `${path}.pattern`,
      message: `Invalid value: ${JSON.stringify(schema.pattern)}: must be a valid regular expression`,
    })
  if (schema.default !== undefined) for (const cause of validateAgainstSchema(schema, schema.default, `${path}.default`)) causes.push(cause)
}

/** `allOf`, `anyOf`, `oneOf` and `not` only restrict values; types are defined outside of them. */
function checkCombined(schema: JsonSchema & JsonObject, path: string, causes: StatusCause[]): void {
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true
  for (const word of ['allOf', 'anyOf', 'oneOf'] as const)
    for (const [index, option] of (schema[word] ?? []).entries())
      checkRestriction(record(option), `${path}.${word}[${index}]`, isIntOrString, causes)
  if (schema.not !== undefined) checkRestriction(record(schema.not), `${path}.not`, false, causes)
}

function checkRestriction(schema: JsonSchema & JsonObject, path: string, mayHaveType: boolean, causes: StatusCause[]): void {
  for (const field of ['type', 'additionalProperties', 'default', 'nullable', 'description', 'title'])
    if (schema[field] !== undefined && !(field === 'type' && mayHaveType))
      causes.push(forbidden(`${path}.${field}`, 'must be empty to be structural'))
  checkCombined(schema, path, causes)
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    checkRestriction(record(property), `${path}.properties[${name}]`, false, causes)
  if (schema.items !== undefined) checkRestriction(record(schema.items), `${path}.items`, false, causes)
}

function isPattern(source: string): boolean {
  try {
    compilePattern(source)
    return true
  } catch {
    return false
  }
}

function record(schema: unknown): JsonSchema & JsonObject {
  return isObject(schema) ? schema : {}
}

function required(field: string, why: string): StatusCause {
  return { reason: 'FieldValueRequired', field, message: `Required value: ${why}` }
}

function forbidden(field: string, why: string): StatusCause {
  return { reason: 'FieldValueForbidden', field, message: `Forbidden: ${why}` }
}
