import { customResourceDefinitions } from './crd.ts'
import type { StructuralSchema } from './structural-schema.ts'

type Path = readonly (string | number)[]

/** Kinds of ours that have a definition. */
export type DefinedKind = 'Rollout' | 'BatchRelease' | 'ReleasePolicy'

/**
 * Finds the fields of an object that its definition does not have: an API server drops them.
 *
 * @param value anything that claims to be an object of this kind; what has another form than the schema says is passed over
 * @returns a path for each, lists by number; nothing below a field that is not known itself
 */
export function unknownFields(kind: DefinedKind, value: unknown): readonly Path[] {
  return unknownBelow(schemaOf(kind), value, [])
}

/**
 * Finds the fields of ours that a served schema lacks: an API server would drop them when we write them.
 *
 * @param served the schema that the cluster has for objects of this kind, in OpenAPI
 * @returns paths such as `status.flight`, highest first: nothing below a field that is missing itself
 */
export function missingFields(kind: DefinedKind, served: unknown): readonly string[] {
  return missingBelow(schemaOf(kind), served, '')
}

function schemaOf(kind: DefinedKind): StructuralSchema {
  const definition = customResourceDefinitions.find(({ spec }) => spec.names.kind === kind)
  const schema = definition?.spec.versions[0]?.schema.openAPIV3Schema
  if (schema === undefined) throw new Error(`no definition of ${kind}`)
  return schema
}

function unknownBelow(schema: StructuralSchema, value: unknown, path: Path): readonly Path[] {
  if (Array.isArray(value)) {
    const { items } = schema
    return items === undefined ? [] : value.flatMap((item, index) => unknownBelow(items, item, [...path, index]))
  }
  if (typeof value !== 'object' || value === null || isOpen(schema, path)) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const known = Object.hasOwn(schema.properties ?? {}, name) ? schema.properties?.[name] : schema.additionalProperties
    return known === undefined ? [[...path, name]] : unknownBelow(known, member, [...path, name])
  })
}

/** Metadata has the API server's own fields. What is no object in the schema is another fault than a field too many. */
function isOpen(schema: StructuralSchema, path: Path): boolean {
  return (
    schema['x-kubernetes-preserve-unknown-fields'] === true || schema.type !== 'object' || (path.length === 1 && path[0] === 'metadata')
  )
}

function missingBelow(ours: StructuralSchema, served: unknown, path: string): readonly string[] {
  const theirs = (served ?? {}) as StructuralSchema
  if (theirs['x-kubernetes-preserve-unknown-fields'] === true) return []
  const members = Object.entries(ours.properties ?? {}).flatMap(([name, schema]) => {
    const at = path === '' ? name : `${path}.${name}`
    const known = theirs.properties?.[name] ?? theirs.additionalProperties
    return known === undefined ? [at] : missingBelow(schema, known, at)
  })
  return ours.items === undefined ? members : [...members, ...missingBelow(ours.items, theirs.items, `${path}[]`)]
}
