import { readFlag } from './request-options.ts'
import type { ResourceRoute, Route } from './wire/route.ts'
import type { Attributes } from '../auth/attributes.ts'

/** HTTP request before its resource is resolved. */
export interface RoutedPath {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly route: Route
}

/** @returns authorization attributes of a request */
export function attributesOf({ method, path, query, route }: RoutedPath): Attributes {
  if (route.kind !== 'resource') return { kind: 'path', verb: method.toLowerCase(), path }
  const { group, resource, subresource, namespace } = route
  const name = route.name ?? selectedName(query)
  // A namespace object belongs to the namespace of its own name.
  const scope = namespace ?? (group === '' && resource === 'namespaces' ? route.name : undefined)
  return { kind: 'resource', verb: verbOf(method, query, route), group, resource, subresource, namespace: scope, name }
}

function verbOf(method: string, query: URLSearchParams, { name, subresource }: ResourceRoute): string {
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (subresource === undefined && readFlag(query.get('watch') ?? 'false')) return 'watch'
      return name === undefined ? 'list' : 'get'
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return name === undefined ? 'deletecollection' : 'delete'
    default:
      return method.toLowerCase()
  }
}

/** A list by `metadata.name` is authorized like access to that object. */
function selectedName(query: URLSearchParams): string | undefined {
  return /^metadata\.name==?([^,]+)$/.exec(query.get('fieldSelector') ?? '')?.[1]
}
