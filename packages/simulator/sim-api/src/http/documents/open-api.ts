import { createHash } from 'node:crypto'
import type { ResourceDefinition } from '../../model/resource-definition.ts'
import { builtinKinds, findBuiltinKind } from '../../schema/builtin-definitions.ts'
import { descriptionOf } from '../../schema/descriptions.ts'
import { builtinSchemas, openApiName, type OpenApiSchema, schemaReference } from '../../schema/open-api-schemas.ts'
import { openApiSchemaOf } from '../../schema/schema-source.ts'
import { reviewResources } from './review-resources.ts'
import { reviewPaths, resourcePaths } from './open-api-paths.ts'
import { servedGroups } from './served-groups.ts'
import { isObject } from '../../model/json.ts'

/** Parts of an OpenAPI v3 document that ours use. */
interface OpenApiDocument {
  readonly openapi: string
  readonly info: object
  /** Operations by path, then by method, and `parameters` common to a path. */
  readonly paths: Readonly<Record<string, object>>
  readonly components: { readonly schemas: Readonly<Record<string, OpenApiSchema>>; readonly securitySchemes: object }
}

/** Serialized document. */
export interface OpenApiText {
  readonly text: string
  /** Hash of the text. */
  readonly hash: string
  /** URL with the hash. */
  readonly url: string
}

/** OpenAPI documents of the resources served now. */
export interface OpenApi {
  /** @returns response of `/openapi/v3`: URL of the document of each group and version */
  index(): object
  /**
   * @param path `api/v1` or `apis/<group>/<version>`
   * @returns OpenAPI v3 document; undefined when it is not served
   */
  document(path: string): OpenApiText | undefined
}

/** Builds each document once, and again when its resources have changed. */
export function createOpenApi(definitions: () => readonly ResourceDefinition[]): OpenApi {
  const written = new Map<string, OpenApiText & { readonly of: string }>()
  function write(path: string, served: readonly ResourceDefinition[], content: () => object): OpenApiText {
    const of = served.map(identityOf).join(' ')
    const known = written.get(path)
    if (known?.of === of) return known
    const text = JSON.stringify(content())
    const hash = createHash('sha512').update(text).digest('hex').toUpperCase()
    const fresh = { of, text, hash, url: `/openapi/v3/${path}?hash=${hash}` }
    written.set(path, fresh)
    return fresh
  }
  function document(path: string): OpenApiText | undefined {
    const { group, version } = groupVersionOf(path)
    const served = definitions().filter((definition) => definition.group === group && definition.versions.includes(version))
    const isServed = served.length > 0 || (version === 'v1' && reviewResources.some((resource) => resource.group === group))
    return isServed && pathOf(group, version) === path ? write(path, served, () => documentContent(group, version, served)) : undefined
  }
  return {
    index() {
      const paths = servedGroups(definitions()).flatMap(({ group, versions }) => versions.map(({ version }) => pathOf(group, version)))
      return { paths: Object.fromEntries(paths.map((path) => [path, { serverRelativeURL: document(path)!.url }])) }
    },
    document,
  }
}

/** Built-in resources never change; custom resources may change with each version of their CustomResourceDefinition. */
function identityOf({ group, plural, customResourceDefinition }: ResourceDefinition): string {
  const { uid, resourceVersion } = customResourceDefinition?.metadata ?? {}
  return `${group}/${plural}@${uid}:${resourceVersion}`
}

function documentContent(group: string, version: string, served: readonly ResourceDefinition[]): OpenApiDocument {
  const stored = served.map((definition) => resourcePaths(definition, version, kindName(definition, version)))
  const reviews = reviewResources.filter((resource) => resource.group === group && version === 'v1').map(reviewPaths)
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.36.2' },
    paths: Object.assign({}, ...stored, ...reviews) as Record<string, object>,
    components: {
      schemas: Object.assign(sharedSchemas(group, version), ...served.map((definition) => kindSchemas(definition, version))) as Record<
        string,
        OpenApiSchema
      >,
      securitySchemes: { BearerToken: { type: 'apiKey', in: 'header', name: 'authorization', description: 'Bearer Token authentication' } },
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
  const schema = isObject(openAPIV3Schema) ? openAPIV3Schema : { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const metadata = { allOf: [schemaReference(openApiName('meta/v1.ObjectMeta'))] }
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const own = (name: string, type: OpenApiSchema): OpenApiSchema => ({ ...type, description: descriptionOf(`.${name}`) })
  const type = { apiVersion: own('apiVersion', { type: 'string' }), kind: own('kind', { type: 'string' }) }
  return { ...schema, properties: { ...properties, ...type, metadata: own('metadata', metadata) } }
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

/** Schemas of the built-in kinds of a group and version with their GVKs, and the schemas that every document needs. */
function sharedSchemas(group: string, version: string): Record<string, OpenApiSchema> {
  const kinds = builtinKinds.filter((entry) => entry.group === group && entry.version === version)
  const others = ['meta/v1.ObjectMeta', 'meta/v1.ListMeta', 'meta/v1.DeleteOptions', 'meta/v1.Status']
  if (group === '') others.push('policy/v1.Eviction', 'authentication/v1.TokenRequest') // posted below pods and service accounts
  const schemas = builtinSchemas([...kinds.map((entry) => entry.definition), ...others])
  for (const { definition, kind } of kinds)
    schemas[openApiName(definition)] = {
      ...schemas[openApiName(definition)],
      'x-kubernetes-group-version-kind': [{ group, version, kind }],
    }
  schemas[openApiName('meta/v1.Patch')] = { description: 'A patch in the format its content type names.', type: 'object' }
  return schemas
}
