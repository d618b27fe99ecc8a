import { valueIn } from '@tranche/kube-types'
import { type Definition, definitionOf, type Field, type FieldType, type ScalarType } from './builtin-definitions.ts'
import { descriptionOf } from './descriptions.ts'
import { listMergeOf } from './merge-keys.ts'

/** JSON value to serialize. */
export type OpenApiSchema = Readonly<Record<string, unknown>>

/** @returns name of a definition in OpenAPI documents: `io.k8s.api.apps.v1.DaemonSetSpec` */
export function openApiName(definition: string): string {
  const [, group = '', version, name] = /^(\w+)\/(\w+)\.(\w+)$/.exec(definition) ?? []
  return `${valueIn(namespaces, group) ?? `io.k8s.api.${group}`}.${version}.${name}`
}

const namespaces: Readonly<Record<string, string>> = {
  meta: 'io.k8s.apimachinery.pkg.apis.meta',
  apiextensions: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions',
}

/** @returns reference to a schema by its OpenAPI name */
export function schemaReference(name: string): OpenApiSchema {
  return { $ref: `#/components/schemas/${name}` }
}

/** @returns OpenAPI schemas of these definitions and all their references, by OpenAPI name */
export function builtinSchemas(definitions: readonly string[]): Record<string, OpenApiSchema> {
  const schemas: Record<string, OpenApiSchema> = {}
  const visit = (name: string): void => {
    if (schemas[openApiName(name)] !== undefined) return
    const definition = definitionOf(name)
    schemas[openApiName(name)] = definitionSchema(definition)
    for (const field of definition.fields.values()) {
      referred(field.type).forEach(visit)
      const named = namedScalarOf(field.type)
      if (named !== undefined) schemas[named.name] = named.schema
    }
  }
  definitions.forEach(visit)
  return schemas
}

function referred(type: FieldType): readonly string[] {
  if (type.kind === 'definition') return [type.definition]
  return type.kind === 'scalar' ? [] : referred(type.of)
}

function namedScalarOf(type: FieldType): NamedScalar | undefined {
  if (type.kind === 'definition') return undefined
  return type.kind === 'scalar' ? namedScalars[type.scalar] : namedScalarOf(type.of)
}

function definitionSchema(definition: Definition): OpenApiSchema {
  const fields = [...definition.fields]
  const required = fields.filter(([, field]) => field.required).map(([name]) => name)
  return {
    ...descriptionEntry(definition.name),
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(fields.map(([name, field]) => [name, fieldSchema(definition.name, name, field)])),
  }
}

function fieldSchema(definition: string, name: string, field: Field): OpenApiSchema {
  const merge = listMergeOf(definition, name)
  const type = typeSchema(field.type)
  return {
    ...descriptionEntry(`${definition}.${name}`),
    ...(type['$ref'] === undefined ? type : { allOf: [type] }),
    ...(merge?.key !== undefined && { 'x-kubernetes-patch-merge-key': merge.key }),
    ...(merge !== undefined && { 'x-kubernetes-patch-strategy': merge.strategies.join(',') }),
  }
}

function descriptionEntry(path: string): OpenApiSchema {
  const description = descriptionOf(path)
  return description === '' ? {} : { description }
}

function typeSchema(type: FieldType): OpenApiSchema {
  switch (type.kind) {
    case 'scalar':
      return namedScalars[type.scalar] === undefined ? scalarSchemas[type.scalar] : schemaReference(namedScalars[type.scalar]!.name)
    case 'list':
      return { type: 'array', items: typeSchema(type.of) }
    case 'map':
      return { type: 'object', additionalProperties: typeSchema(type.of) }
    case 'definition':
      return schemaReference(openApiName(type.definition))
  }
}

const scalarSchemas: Readonly<Record<ScalarType, OpenApiSchema>> = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  number: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
  time: { type: 'string', format: 'date-time' },
  'micro-time': { type: 'string', format: 'date-time' },
  quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  'int-or-string': { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
}

interface NamedScalar {
  readonly name: string
  readonly schema: OpenApiSchema
}

/** Scalars that have named schemas. */
const namedScalars: Partial<Readonly<Record<ScalarType, NamedScalar>>> = {
  time: {
    name: openApiName('meta/v1.Time'),
    schema: { description: 'A moment in RFC 3339, to the second.', ...scalarSchemas.time },
  },
  'micro-time': {
    name: openApiName('meta/v1.MicroTime'),
    schema: { description: 'A moment in RFC 3339, to the microsecond.', ...scalarSchemas['micro-time'] },
  },
  quantity: {
    name: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
    schema: { description: 'An amount with an optional unit: 100m, 0.5, 2Gi.', ...scalarSchemas.quantity },
  },
  'int-or-string': {
    name: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
    schema: { description: 'A whole number, or a text such as a percentage.', ...scalarSchemas['int-or-string'] },
  },
}
