import { valueIn } from '@tranche/kube-types'
import { type Decoded, decodeBuiltin } from './decode.ts'
import { childPath, type JsonSchema } from '../model/json-schema.ts'
import { isObject, type JsonObject, setField } from '../model/json.ts'

/**
 * Drops the fields that a custom resource's schema does not know and returns their paths. `apiVersion`, `kind` and `metadata` always stay.
 */
export function pruneCustomResource(schema: JsonSchema, object: JsonObject): Decoded {
  const walk: Walk = { unknownFields: [], typeError: undefined }
  const pruned = pruneResource(schema, object, '', walk)
  return { object: pruned, unknownFields: walk.unknownFields, ...(walk.typeError !== undefined && { typeError: walk.typeError }) }
}

interface Walk {
  readonly unknownFields: string[]
  typeError: string | undefined
}

const resourceFields = new Set(['apiVersion', 'kind', 'metadata'])

function pruneResource(schema: JsonSchema, object: JsonObject, path: string, walk: Walk): JsonObject {
  const pruned: Record<string, unknown> = {}
  for (const name of ['apiVersion', 'kind']) if (object[name] !== undefined) pruned[name] = object[name]
  if (isObject(object['metadata'])) pruned['metadata'] = pruneMetadata(object['metadata'], childPath(path, 'metadata'), walk)
  const rest = Object.fromEntries(Object.entries(object).filter(([name]) => !resourceFields.has(name)))
  return Object.assign(pruned, pruneRecord(schema, rest, path, walk))
}

function pruneMetadata(metadata: JsonObject, path: string, walk: Walk): JsonObject {
  const decoded = decodeBuiltin('meta/v1.ObjectMeta', metadata)
  walk.unknownFields.push(...decoded.unknownFields.map((field) => childPath(path, field)))
  walk.typeError ??= decoded.typeError
  return decoded.object
}

function pruneValue(schema: JsonSchema, value: unknown, path: string, walk: Walk): unknown {
  if (Array.isArray(value)) return value.map((item, index) => pruneValue(schema.items ?? {}, item, `${path}[${index}]`, walk))
  if (!isObject(value)) return value
  return schema['x-kubernetes-embedded-resource'] === true
    ? pruneResource(schema, value, path, walk)
    : pruneRecord(schema, value, path, walk)
}

function pruneRecord(schema: JsonSchema, value: JsonObject, path: string, walk: Walk): JsonObject {
  const pruned: Record<string, unknown> = {}
  for (const [name, item] of Object.entries(value)) {
    const property = valueIn(schema.properties, name) ?? schema.additionalProperties
    if (isObject(property)) setField(pruned, name, pruneValue(property, item, childPath(path, name), walk))
    else if (property === true || schema['x-kubernetes-preserve-unknown-fields'] === true) setField(pruned, name, item)
    else walk.unknownFields.push(childPath(path, name))
  }
  return pruned
}
