import { valueIn } from '@tranche/kube-types'
import { customResourceDefinitions } from './crd.ts'
import type { StructuralSchema } from './structural-schema.ts'

type Path = readonly (string | number)[]

/** Kinds that have a CustomResourceDefinition of Tranche. */
export type DefinedKind = 'Rollout' | 'BatchRelease' | 'ReleasePolicy'

/**
 * Finds the fields of an object that its CustomResourceDefinition does not have. The API server drops them.
 *
 * @param value anything that claims to be an object of this kind; values whose type differs from the schema are skipped
 * @param most the search ends after this number of fields
 * @returns one path per field, with list indexes as numbers; nothing below an unknown field
 */
export function unknownFields(kind: DefinedKind, value: unknown, most: number): readonly Path[] {
  const found: Path[] = []
  findUnknown(schemaOf(kind), value, [], (path) => found.push(path) < most)
  return found
}

/**
 * Finds the fields that a served schema lacks. The API server would drop them when Tranche writes them.
 *
 * @param served the OpenAPI schema that the cluster has for objects of this kind
 * @returns paths such as `status.flight`; nothing below a missing field
 */
export function missingFields(kind: DefinedKind, served: unknown): readonly string[] {
  return missingBelow(schemaOf(kind), served, '')
}

/** @returns the schema in the definition of a kind */
export function schemaOf(kind: DefinedKind): StructuralSchema {
  const definition = customResourceDefinitions.find(({ spec }) => spec.names.kind === kind)
  const schema = definition?.spec.versions[0]?.schema.openAPIV3Schema
  if (schema === undefined) throw new Error(`no definition of ${kind}`)
  return schema
}

/** @param add takes a path, and returns whether to look for more @returns whether to look for more */
function findUnknown(schema: StructuralSchema, value: unknown, path: Path, add: (path: Path) => boolean): boolean {
  if (Array.isArray(value)) {
    const { items } = schema
    return items === undefined || value.every((item, index) => findUnknown(items, item, [...path, index], add))
  }
  if (typeof value !== 'object' || value === null || isOpen(schema, path)) return true
  return Object.entries(value).every(([name, member]) => {
    const known = valueIn(schema.properties, name) ?? schema.additionalProperties
    return known === undefined ? add([...path, name]) : findUnknown(known, member, [...path, name], add)
  })
}

/** Metadata has fields of the API server. A value whose type differs from the schema is not an unknown field. */
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
    const known = valueIn(theirs.properties, name) ?? theirs.additionalProperties
    return known === undefined ? [at] : missingBelow(schema, known, at)
  })
  return ours.items === undefined ? members : [...members, ...missingBelow(ours.items, theirs.items, `${path}[]`)]
}
