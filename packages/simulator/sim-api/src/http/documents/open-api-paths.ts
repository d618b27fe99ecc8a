import { valueIn } from '@tranche/kube-types'
import type { ResourceDefinition } from '../../model/resource-definition.ts'
import { findBuiltinKind } from '../../schema/builtin-definitions.ts'
import { openApiName, type OpenApiSchema, schemaReference } from '../../schema/open-api-schemas.ts'
import type { ReviewResource } from './review-resources.ts'
import { postedKind, verbsOf } from './served-groups.ts'

/**
 * @param kindName OpenAPI name of the resource's kind
 * @returns operations of one resource, by path
 */
export function resourcePaths(definition: ResourceDefinition, version: string, kindName: string): Record<string, object> {
  const { group, plural, namespaced, kind, subresources } = definition
  const root = rootOf(group, version)
  const collection = namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`
  const about: About = { kindName, groupVersionKind: { group, version, kind }, definition }
  const scope = namespaced ? [namespaceParameter, prettyParameter] : [prettyParameter]
  const item = [pathParameter('name', `name of the ${kind}`), ...scope]
  const paths: Record<string, object> = {
    [collection]: { ...collectionOperations(about), parameters: scope },
    [`${collection}/{name}`]: { ...itemOperations(about), parameters: item },
  }
  if (namespaced) paths[`${root}/${plural}`] = { get: listOperation(about), parameters: [prettyParameter] }
  // The documents describe no Scale.
  for (const subresource of subresources.filter((name) => name !== 'scale'))
    paths[`${collection}/{name}/${subresource}`] = { ...subresourceOperations(about, subresource), parameters: item }
  return paths
}

/** @returns single operation of a resource whose objects are not stored, by path */
export function reviewPaths({ group, plural, kind, namespaced }: ReviewResource): Record<string, object> {
  const folder = group.split('.')[0]!
  const about: About = { kindName: openApiName(`${folder}/v1.${kind}`), groupVersionKind: { group, version: 'v1', kind } }
  const path = `${rootOf(group, 'v1')}${namespaced ? '/namespaces/{namespace}' : ''}/${plural}`
  return { [path]: { post: createOperation(about), parameters: namespaced ? [namespaceParameter, prettyParameter] : [prettyParameter] } }
}

interface About {
  readonly kindName: string
  readonly groupVersionKind: { readonly group: string; readonly version: string; readonly kind: string }
  readonly definition?: ResourceDefinition
}

function rootOf(group: string, version: string): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`
}

function collectionOperations(about: About): object {
  const remove = operation(about, 'deletecollection', { parameters: [...deleteParameters, ...listParameters], answer: statusName })
  const canDeleteAll = about.definition !== undefined && verbsOf(about.definition).includes('deletecollection')
  return {
    get: listOperation(about),
    post: createOperation(about),
    ...(canDeleteAll && { delete: { ...remove, requestBody: jsonBody(deleteOptionsName, false) } }),
  }
}

function listOperation(about: About): OpenApiSchema {
  return operation(about, 'list', { parameters: [...listParameters, 'allowWatchBookmarks', 'watch'], answer: `${about.kindName}List` })
}

function createOperation(about: About): object {
  return { ...operation(about, 'post', { parameters: writeParameters, codes: created }), requestBody: jsonBody(about.kindName) }
}

function itemOperations(about: About): object {
  const remove = operation(about, 'delete', { parameters: deleteParameters, answer: statusName, codes: { '200': 'OK', '202': 'Accepted' } })
  return { ...changeOperations(about), delete: { ...remove, requestBody: jsonBody(deleteOptionsName, false) } }
}

function subresourceOperations(about: About, subresource: string): object {
  const posted = postedKind(subresource)
  if (posted === undefined) return changeOperations(about)
  const { group, version, kind } = posted
  const kindName = openApiName(findBuiltinKind(group, version, kind)!.definition)
  return { post: createOperation({ kindName, groupVersionKind: posted }) }
}

function changeOperations(about: About): object {
  return {
    get: operation(about, 'get', { parameters: [] }),
    put: {
      ...operation(about, 'put', { parameters: writeParameters, codes: { '200': 'OK', '201': 'Created' } }),
      requestBody: jsonBody(about.kindName),
    },
    patch: { ...operation(about, 'patch', { parameters: [...writeParameters, 'force'] }), requestBody: patchBody(about) },
  }
}

const statusName = openApiName('meta/v1.Status')
const deleteOptionsName = openApiName('meta/v1.DeleteOptions')
const created = { '200': 'OK', '201': 'Created', '202': 'Accepted' }

const queryParameters: Readonly<Record<string, readonly [type: string, description: string]>> = {
  allowWatchBookmarks: ['boolean', 'Whether a watch may send bookmarks with its position.'],
  continue: ['string', 'Continue token of the previous page.'],
  dryRun: ['string', 'All: does everything except the write.'],
  fieldManager: ['string', 'Name of the actor that makes the change.'],
  fieldSelector: ['string', 'Selects objects by fields.'],
  fieldValidation: ['string', 'Treatment of unknown and duplicate fields: Ignore, Warn or Strict.'],
  force: ['boolean', 'Only for apply: takes over fields of other managers.'],
  gracePeriodSeconds: ['integer', 'Seconds that the object may take to terminate; 0 deletes at once.'],
  labelSelector: ['string', 'Selects objects by labels.'],
  limit: ['integer', 'Maximum number of objects per page.'],
  orphanDependents: ['boolean', 'Older form of propagationPolicy: true orphans dependents.'],
  propagationPolicy: ['string', 'Treatment of dependents: Orphan, Background or Foreground.'],
  resourceVersion: ['string', 'Resource version to read at or to start from.'],
  resourceVersionMatch: ['string', 'Meaning of resourceVersion: Exact or NotOlderThan.'],
  sendInitialEvents: ['boolean', 'Whether a watch starts with all existing objects, followed by a bookmark.'],
  timeoutSeconds: ['integer', 'Time limit of a watch or list, in seconds.'],
  watch: ['boolean', 'Streams changes instead of listing.'],
}
const writeParameters = ['dryRun', 'fieldManager', 'fieldValidation']
const deleteParameters = ['dryRun', 'gracePeriodSeconds', 'orphanDependents', 'propagationPolicy']
const listParameters = [
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
]

interface OperationParts {
  readonly parameters: readonly string[]
  /** OpenAPI name of the response; the resource's own kind by default. */
  readonly answer?: string
  /** Description of each success status code. */
  readonly codes?: Readonly<Record<string, string>>
}

function operation(
  about: About,
  action: string,
  { parameters, answer = about.kindName, codes = { '200': 'OK' } }: OperationParts,
): OpenApiSchema {
  const content = { 'application/json': { schema: schemaReference(answer) } }
  const answers = Object.entries(codes).map(([code, description]) => [code, { description, content }])
  return {
    parameters: [...parameters].sort().map(queryParameter),
    responses: { ...(Object.fromEntries(answers) as object), '401': { description: 'Unauthorized' } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': about.groupVersionKind,
  }
}

function queryParameter(name: string): object {
  const [type, description] = valueIn(queryParameters, name)!
  return { name, in: 'query', description, schema: { type, uniqueItems: true } }
}

function jsonBody(schema: string, required = true): object {
  return { content: { 'application/json': { schema: schemaReference(schema) } }, ...(required && { required }) }
}

function patchBody({ definition }: About): object {
  const isCustom = definition?.customResourceDefinition !== undefined
  const types = ['json-patch+json', 'merge-patch+json', ...(isCustom ? [] : ['strategic-merge-patch+json']), 'apply-patch+yaml']
  const schema = schemaReference(openApiName('meta/v1.Patch'))
  return { content: Object.fromEntries(types.map((type) => [`application/${type}`, { schema }])), required: true }
}

const namespaceParameter = pathParameter('namespace', 'namespace of the object')
const prettyParameter = {
  name: 'pretty',
  in: 'query',
  description: 'true: with line breaks',
  schema: { type: 'string', uniqueItems: true },
}

function pathParameter(name: string, description: string): object {
  return { name, in: 'path', required: true, description, schema: { type: 'string', uniqueItems: true } }
}
