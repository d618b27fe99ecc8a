import type { ResourceDefinition } from '../core/resource-definition.ts'
import { builtinKinds, findBuiltinKind } from '../schema/builtin-definitions.ts'
import { isRecord } from '../schema/json-schema.ts'
import { builtinSchemas, openApiName, type OpenApiSchema, schemaReference } from '../schema/open-api-schemas.ts'
import { openApiSchemaOf } from '../schema/schema-source.ts'
import { resourcePaths } from './open-api-paths.ts'

/** @returns the answer of `/openapi/v3`: where the document of each group and version stands */
export function openApiIndex(definitions: readonly ResourceDefinition[]): object {
  const paths = new Set(definitions.flatMap((definition) => definition.versions.map((version) => pathOf(definition.group, version))))
  return {
    paths: Object.fromEntries(
      [...paths].map((path) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash(path, definitions)}` }]),
    ),
  }
}

/**
 * @param path `api/v1` or `apis/<group>/<version>`
 * @returns the OpenAPI v3 document, or undefined when nothing is served there
 */
export function openApiDocument(path: string, definitions: readonly ResourceDefinition[]): object | undefined {
  const { group, version } = groupVersionOf(path)
  const served = definitions.filter((definition) => definition.group === group && definition.versions.includes(version))
  if (served.length === 0 || pathOf(group, version) !== path) return undefined
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.36.2' },
    paths: Object.assign({}, ...served.map((definition) => resourcePaths(definition, version, kindName(definition, version)))) as object,
    components: {
      schemas: Object.assign(sharedSchemas(group, version), ...served.map((definition) => kindSchemas(definition, version))) as object,
    },
  }
}

function pathOf(group: string, version: string): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`
}

function groupVersionOf(path: string): { readonly group: string; readonly version: string } {
  const words = path.split('/')
  return words[0] === 'api' ? { group: '', version: words[1] ?? '' } : { group: words[1] ?? '', version: words[2] ?? '' }
}

/** Changes whenever a document may have changed: with the definitions served. */
function hash(path: string, definitions: readonly ResourceDefinition[]): string {
  const text = definitions.map(
    ({ group, plural, customResourceDefinition }) => `${group}/${plural}@${customResourceDefinition?.metadata.resourceVersion}`,
  )
  let value = 0x811c9dc5
  for (const char of `${path} ${text.join(' ')}`) value = Math.imul(value ^ char.charCodeAt(0), 0x01000193) >>> 0
  return value.toString(16).toUpperCase().padStart(8, '0')
}

function kindName(definition: ResourceDefinition, version: string): string {
  const { group, kind } = definition
  const builtin = definition.customResourceDefinition === undefined ? findBuiltinKind(group, version, kind) : undefined
  return builtin === undefined ? `${group.split('.').reverse().join('.')}.${version}.${kind}` : openApiName(builtin.definition)
}

function kindSchemas(definition: ResourceDefinition, version: string): Record<string, OpenApiSchema> {
  const { group, kind, listKind, customResourceDefinition } = definition
  const name = kindName(definition, version)
  const schema = customResourceDefinition === undefined ? undefined : customSchema(openApiSchemaOf(customResourceDefinition, version))
  return {
    ...(schema !== undefined && { [name]: { ...schema, 'x-kubernetes-group-version-kind': [{ group, version, kind }] } }),
    [`${name}List`]: listSchema(name, { group, version, kind: listKind }),
  }
}

function customSchema(openAPIV3Schema: unknown): OpenApiSchema {
  const schema = isRecord(openAPIV3Schema) ? openAPIV3Schema : { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const metadata = { allOf: [schemaReference(openApiName('meta/v1.ObjectMeta'))] }
  const properties = isRecord(schema['properties']) ? schema['properties'] : {}
  return { ...schema, properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, ...properties, metadata } }
}

function listSchema(item: string, groupVersionKind: object): OpenApiSchema {
  return {
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { allOf: [schemaReference(openApiName('meta/v1.ListMeta'))] },
      items: { type: 'array', items: { allOf: [schemaReference(item)], default: {} } },
    },
    'x-kubernetes-group-version-kind': [groupVersionKind],
  }
}

/** Schemas of the built-in kinds of a group and version, marked with what they are, and those every document needs. */
function sharedSchemas(group: string, version: string): Record<string, OpenApiSchema> {
  const kinds = builtinKinds.filter((entry) => entry.group === group && entry.version === version)
  const meta = ['meta/v1.ObjectMeta', 'meta/v1.ListMeta', 'meta/v1.DeleteOptions', 'meta/v1.Status']
  const schemas = builtinSchemas([...kinds.map((entry) => entry.definition), ...meta])
  for (const { definition, kind } of kinds)
    schemas[openApiName(definition)] = {
      ...schemas[openApiName(definition)],
      'x-kubernetes-group-version-kind': [{ group, version, kind }],
    }
  schemas[openApiName('meta/v1.Patch')] = { description: 'A patch in the format its content type names.', type: 'object' }
  return schemas
}
