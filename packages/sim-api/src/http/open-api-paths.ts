import type { ResourceDefinition } from '../core/resource-definition.ts'
import { openApiName, type OpenApiSchema, schemaReference } from '../schema/open-api-schemas.ts'

/**
 * @param kindName OpenAPI name of the resource's kind
 * @returns the operations of one resource, by path
 */
export function resourcePaths(definition: ResourceDefinition, version: string, kindName: string): Record<string, object> {
  const { group, plural, namespaced, kind, subresources } = definition
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const collection = namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`
  const about: About = { kindName, groupVersionKind: { group, version, kind }, isCustom: definition.customResourceDefinition !== undefined }
  const scope = namespaced ? [pathParameter('namespace')] : []
  const paths: Record<string, object> = {
    [collection]: { ...collectionOperations(about), parameters: scope },
    [`${collection}/{name}`]: { ...itemOperations(about), parameters: [pathParameter('name'), ...scope] },
  }
  if (namespaced) paths[`${root}/${plural}`] = { get: operation(about, 'list', listParameters, `${kindName}List`) }
  if (subresources.includes('status'))
    paths[`${collection}/{name}/status`] = { ...statusOperations(about), parameters: [pathParameter('name'), ...scope] }
  return paths
}

interface About {
  readonly kindName: string
  readonly groupVersionKind: object
  readonly isCustom: boolean
}

function collectionOperations(about: About): object {
  return {
    get: operation(about, 'list', listParameters, `${about.kindName}List`),
    post: { ...operation(about, 'post', writeParameters), requestBody: jsonBody(about.kindName) },
    delete: operation(about, 'deletecollection', [...listParameters, 'dryRun'], openApiName('meta/v1.Status')),
  }
}

function itemOperations(about: About): object {
  const remove = operation(about, 'delete', ['dryRun', 'gracePeriodSeconds', 'propagationPolicy'], openApiName('meta/v1.Status'))
  return { ...statusOperations(about), delete: { ...remove, requestBody: jsonBody(openApiName('meta/v1.DeleteOptions')) } }
}

function statusOperations(about: About): object {
  return {
    get: operation(about, 'get', []),
    put: { ...operation(about, 'put', writeParameters), requestBody: jsonBody(about.kindName) },
    patch: { ...operation(about, 'patch', [...writeParameters, 'force']), requestBody: patchBody(about) },
  }
}

const writeParameters = ['dryRun', 'fieldManager', 'fieldValidation']
const listParameters = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'timeoutSeconds',
  'watch',
]

function operation(about: About, action: string, parameters: readonly string[], answer = about.kindName): OpenApiSchema {
  return {
    parameters: parameters.map((name) => ({ name, in: 'query', schema: { type: 'string', uniqueItems: true } })),
    responses: { '200': { description: 'OK', content: { 'application/json': { schema: schemaReference(answer) } } } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': about.groupVersionKind,
  }
}

function jsonBody(schema: string): object {
  return { content: { 'application/json': { schema: schemaReference(schema) } }, required: true }
}

function patchBody({ isCustom }: About): object {
  const types = ['json-patch', 'merge-patch', ...(isCustom ? [] : ['strategic-merge-patch'])]
  const schema = schemaReference(openApiName('meta/v1.Patch'))
  return { content: Object.fromEntries(types.map((type) => [`application/${type}+json`, { schema }])), required: true }
}

function pathParameter(name: string): object {
  return { name, in: 'path', required: true, schema: { type: 'string', uniqueItems: true } }
}
