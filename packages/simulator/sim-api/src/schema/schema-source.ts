import type { ApiObject } from '../model/client.ts'
import type { JsonObject, ObjectSchema, SchemaSource } from '../model/resource-definition.ts'
import { ApiStatusError, type StatusCause } from '../model/status-error.ts'
import { findBuiltinKind } from './builtin-definitions.ts'
import { createCustomResourceSchema } from './custom-resource-schema.ts'
import { type Decoded, decodeBuiltin } from './decode.ts'
import type { JsonSchema } from '../model/json-schema.ts'
import { ruleCauses } from './rules/rule-causes.ts'
import { structuralCauses } from './structural-causes.ts'
import { isObject } from '../model/json.ts'

/**
 * Schemas of the built-in kinds, and those of CustomResourceDefinitions. `custom` throws ApiStatusError 422 for a non-structural schema,
 * `prune` 400 for a type error.
 */
export const schemaSource: SchemaSource = { custom: customSchema, builtIn: builtInSchema }

function builtInSchema(group: string, version: string, kind: string): ObjectSchema | undefined {
  const builtin = findBuiltinKind(group, version, kind)
  if (builtin === undefined) return undefined
  return {
    prune: (object, known) => refuseTypeError(decodeBuiltin(builtin.definition, object, known), version, kind),
    applyDefaults: (object) => object,
    validate: () => [],
  }
}

function customSchema(definition: ApiObject, version: string): ObjectSchema {
  const kind = kindOf(definition)
  const openAPIV3Schema = openApiSchemaOf(definition, version)
  const structural = structuralCauses(openAPIV3Schema)
  const causes = structural.length > 0 ? structural : ruleCauses(openAPIV3Schema as JsonSchema, 'spec.validation.openAPIV3Schema')
  if (causes.length > 0) throw unusable(definition, causes)
  const schema = createCustomResourceSchema(openAPIV3Schema)
  return { ...schema, prune: (object) => refuseTypeError(schema.prune(object), version, kind) }
}

function refuseTypeError(decoded: Decoded, version: string, kind: string): { object: JsonObject; unknownFields: readonly string[] } {
  if (decoded.typeError === undefined) return decoded
  throw new ApiStatusError(400, 'BadRequest', `${kind} in version "${version}" cannot be handled as a ${kind}: ${decoded.typeError}`)
}

function unusable(definition: ApiObject, causes: readonly StatusCause[]): ApiStatusError {
  const { name } = definition.metadata
  const says = causes.map((cause) => `${cause.field}: ${cause.message}`)
  const message = `CustomResourceDefinition.apiextensions.k8s.io "${name}" is invalid: ${says.length === 1 ? says[0] : `[${says.join(', ')}]`}`
  return new ApiStatusError(422, 'Invalid', message, { name, group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition', causes })
}

function kindOf(definition: ApiObject): string {
  const names = isObject(definition['spec']) ? definition['spec']['names'] : undefined
  return isObject(names) ? String(names['kind']) : ''
}

/** @returns `openAPIV3Schema` of that version of a CustomResourceDefinition; undefined without one */
export function openApiSchemaOf(definition: ApiObject, version: string): unknown {
  const versions = isObject(definition['spec']) ? definition['spec']['versions'] : undefined
  const found: unknown = Array.isArray(versions) ? versions.find((entry) => isObject(entry) && entry['name'] === version) : undefined
  const schema = isObject(found) ? found['schema'] : undefined
  return isObject(schema) ? schema['openAPIV3Schema'] : undefined
}
