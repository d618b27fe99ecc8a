import { valueIn } from '@tranche/kube-types'
import type { WireRequest } from '@tranche/wire'
import type { Actor } from '../model/client.ts'
import type { ApiRequest, PatchType, RequestOptions, Verb, WatchRequest } from '../model/request.ts'
import type { ResourceDefinition } from '../model/resource-definition.ts'
import { methodNotAllowed } from '../model/errors.ts'
import { ApiStatusError } from '../model/status-error.ts'
import { APPLY_PATCH, readRequestBody, unknownFormat } from './wire/request-body.ts'
import { readFlag, readRequestOptions, refuseForce, requireManager } from './request-options.ts'
import type { ResourceRoute } from './wire/route.ts'
import { postedKind, verbsOf } from './documents/served-groups.ts'

/** Request for a resource, in terms of the API server. */
export type ResourceCall =
  | { readonly kind: 'request'; readonly request: ApiRequest; readonly warnings: readonly string[] }
  | { readonly kind: 'watch'; readonly request: WatchRequest }

/** Request whose path was resolved to a resource. */
export interface RoutedRequest {
  readonly actor: Actor
  readonly wire: WireRequest
  readonly query: URLSearchParams
  readonly route: ResourceRoute
  readonly definition: ResourceDefinition
}

/**
 * Converts an HTTP request to a request value.
 *
 * @throws {ApiStatusError} 400 for an unreadable body or parameter, 405 for an unsupported method, 415 for an unsupported patch format
 */
export function readResourceCall(routed: RoutedRequest): ResourceCall {
  const { actor, wire, query, route, definition } = routed
  const options = readRequestOptions(query, wire.method)
  const resource = { group: definition.group, resource: definition.plural }
  const at = { actor, resource, version: route.version, namespace: route.namespace }
  if (isWatch(wire, query, route)) return { kind: 'watch', request: { ...at, options: watchOptions(options, route) } }
  const verb = verbOf(wire.method, route, definition)
  const patchType = verb === 'patch' ? patchTypeOf(wire, definition) : undefined
  if (patchType === 'apply-patch') requireManager(options)
  else if (patchType !== undefined) refuseForce(query)
  const body = readRequestBody(wire.body, contentType(wire), verb === 'patch' ? Object.keys(patchTypes) : undefined)
  const warnings = duplicateWarnings(body.duplicateFields, options, definition, route.version)
  const request: ApiRequest = { ...at, verb, name: route.name, subresource: route.subresource, body: body.value, patchType, options }
  return { kind: 'request', request, warnings }
}

function isWatch(wire: WireRequest, query: URLSearchParams, route: ResourceRoute): boolean {
  return wire.method === 'GET' && route.subresource === undefined && query.has('watch') && readFlag(query.get('watch')!)
}

/** A watch of one name is a watch of the collection with a field selector. */
function watchOptions(options: RequestOptions, route: ResourceRoute): RequestOptions {
  return route.name === undefined ? options : { ...options, fieldSelector: `metadata.name=${route.name}` }
}

function verbOf(method: string, route: ResourceRoute, definition: ResourceDefinition): Verb {
  const onCollection = route.name === undefined
  const verb = (onCollection ? collectionVerbs : itemVerbs)[method]
  if (verb === 'list') return verb
  const takesPost = postedKind(route.subresource ?? '') !== undefined
  const createsSubresource = method === 'POST' && !onCollection && takesPost
  const needsNamespace = definition.namespaced && route.namespace === undefined
  const misplacedVerb = takesPost !== (method === 'POST') && !onCollection
  if (createsSubresource) return 'create'
  const isDenied = verb === 'deletecollection' && !verbsOf(definition).includes(verb)
  if (verb === undefined || isDenied || needsNamespace || misplacedVerb || (route.subresource !== undefined && verb === 'delete'))
    throw methodNotAllowed()
  return verb
}

const collectionVerbs: Readonly<Record<string, Verb>> = { GET: 'list', POST: 'create', DELETE: 'deletecollection' }
const itemVerbs: Readonly<Record<string, Verb>> = { GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

function patchTypeOf(wire: WireRequest, definition: ResourceDefinition): PatchType {
  const type = contentType(wire)
  const patchType = valueIn(patchTypes, type)
  const served = Object.keys(patchTypes).filter(
    (name) => valueIn(patchTypes, name) !== 'strategic-merge-patch' || definition.strategy.mergeKeys !== null,
  )
  if (patchType === undefined || !served.includes(type)) throw unknownFormat(served)
  return patchType
}

const patchTypes: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json-patch',
  'application/merge-patch+json': 'merge-patch',
  'application/strategic-merge-patch+json': 'strategic-merge-patch',
  [APPLY_PATCH]: 'apply-patch',
}

function contentType(wire: WireRequest): string {
  return (wire.headers['content-type'] ?? 'application/json').split(';')[0]!.trim().toLowerCase()
}

function duplicateWarnings(
  fields: readonly string[],
  options: RequestOptions,
  definition: ResourceDefinition,
  version: string,
): readonly string[] {
  const faults = fields.map((field) => `duplicate field ${JSON.stringify(field)}`)
  if (faults.length === 0 || options.fieldValidation === 'Ignore') return []
  if (options.fieldValidation === 'Warn') return faults
  const { kind } = definition
  throw new ApiStatusError(
    400,
    'BadRequest',
    `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${faults.join(', ')}`,
  )
}
